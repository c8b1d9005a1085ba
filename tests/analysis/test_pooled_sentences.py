"""Whole sentences without heads, against plain transformers: the pooling written out, hooks before W_O."""

import pytest
import torch
from torch.nn.functional import normalize
from transformers import AutoModel, AutoTokenizer

from selfattn import load_encoder
from selfattn.analysis.measures import Compared
from selfattn.analysis.removing import removal_effect
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.encoders.placed_word import PlacedWord
from selfattn.encoders.pooling import load_pooling
from tests.encoders.test_pooling import embedder

A, B = "The bank of the river was muddy.", "She paid the money into a bank."
HEADS = [(0, 1), (2, 3)]


def pooled(encoder, *texts):
    """The tokens that the embedder averages, in place of a word's."""
    pooling = load_pooling(encoder)
    return [PlacedWord(each, pooling.positions(each)) for each in map(encoder.encode, texts)]


class Plain:
    """The same sentence embedder by transformers alone, its parts found in BERT by their names."""

    def __init__(self, folder, mode):
        self.model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
        self.tokenizer, self.mode = AutoTokenizer.from_pretrained(folder), mode
        self.slots = self.model.config.hidden_size // self.model.config.num_attention_heads

    def vector(self, text, change=None):
        """The unit sentence vector; change(layer, states) may overwrite what enters each W_O, (n, d_model)."""
        inputs = self.tokenizer(text, return_tensors="pt")

        def hook(layer):
            return lambda module, given: (change(layer, given[0][0].clone())[None],)

        blocks = enumerate(self.model.encoder.layer) if change else ()
        hooks = [block.attention.output.dense.register_forward_pre_hook(hook(layer)) for layer, block in blocks]
        with torch.no_grad():
            states = self.model(**inputs).last_hidden_state
        for each in hooks:
            each.remove()
        mask = inputs["attention_mask"][..., None].float()
        pooled = states[:, 0] if self.mode == "cls" else (states * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return normalize(pooled, dim=1)[0].double()

    def without(self, text, layer, head):
        def change(of, states):
            if of == layer:
                states[:, head * self.slots : (head + 1) * self.slots] = 0
            return states

        return self.vector(text, change)


@pytest.fixture(scope="module", params=["mean", "cls"])
def both(request, tmp_path_factory):
    """A sentence embedder made here, loaded by selfattn and by transformers."""
    folder = save_tiny(FAMILIES["BERT"], tmp_path_factory.mktemp(request.param) / "embedder")
    said = {f"pooling_mode_{'cls_token' if request.param == 'cls' else 'mean_tokens'}": True}
    embedder(folder, pooling=said)
    encoder = load_encoder(str(folder), trusted=True)
    return encoder, Plain(folder, request.param)


def test_the_similarity(both):
    encoder, plain = both
    sides = dict(zip("AB", pooled(encoder, A, B)))
    assert Compared(sides, None, None).cosine == pytest.approx(float(plain.vector(A) @ plain.vector(B)), abs=1e-5)


def test_removals_against_hooks(both):
    encoder, plain = both
    effect = removal_effect(encoder, *pooled(encoder, A, B))
    before = float(plain.vector(A) @ plain.vector(B))
    for layer, head in HEADS:
        after = float(plain.without(A, layer, head) @ plain.without(B, layer, head))
        assert effect[layer, head].item() == pytest.approx(after - before, abs=1e-5)
    assert effect.abs().max() > 1e-4
