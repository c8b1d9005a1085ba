"""Whole sentences swapped and without heads, against plain transformers: the pooling written out, hooks before W_O."""

import shutil

import pytest
import torch
from torch.nn.functional import normalize
from transformers import AutoModel, AutoTokenizer

from selfattn import load_encoder
from selfattn.analysis.measures import Compared
from selfattn.analysis.removing import removal_effect
from selfattn.analysis.swapping import swap_pair
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.encoders.placed_word import PlacedWord
from selfattn.encoders.pooling import load_pooling
from selfattn.encoders.sources import resolve
from tests.encoders.test_pooling import embedder

A, B, C = "The bank of the river was muddy.", "She paid the money into a bank.", "After rain the riverside is soft."
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

    def entering(self, text):
        """What enters W_O in each layer, (n, d_model) each."""
        seen = {}
        self.vector(text, lambda layer, states: seen.setdefault(layer, states))
        return seen

    def slot(self, head):
        return slice(head * self.slots, (head + 1) * self.slots)

    def swapped(self, text, donor, heads):
        """The unit vector with these heads' outputs moved by the donor's pooled mean minus their own."""
        own, other = self.entering(text), self.entering(donor)
        at = slice(0, 1) if self.mode == "cls" else slice(None)

        def change(layer, states):
            for head in (head for of, head in heads if of == layer):
                slot = self.slot(head)
                step = other[layer][at, slot].mean(0) - own[layer][at, slot].mean(0)
                states[at, slot] = own[layer][at, slot] + step
            return states

        return self.vector(text, change)

    def without(self, text, layer, head):
        def change(of, states):
            if of == layer:
                states[:, self.slot(head)] = 0
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


def test_swaps_against_hooks(both):
    encoder, plain = both
    sets = [*HEADS, tuple(HEADS), tuple(encoder.all_heads), ()]
    swaps = swap_pair(encoder, *pooled(encoder, A, B, C), heads=sets, move=True)
    a, b = plain.vector(A), plain.vector(B)
    axis = (b - a) / (b - a).square().sum()
    for i, heads in enumerate(encoder.sets_of(sets)):
        into_a, into_b = plain.swapped(A, B, heads), plain.swapped(B, A, heads)
        assert swaps.a_from_b[i].item() == pytest.approx(float((into_a - a) @ axis), abs=1e-5)
        assert swaps.b_from_a[i].item() == pytest.approx(float((b - into_b) @ axis), abs=1e-5)
        assert swaps.control[i].item() == pytest.approx(float((plain.swapped(A, C, heads) - a) @ axis), abs=1e-5)
        assert swaps.cosine[i].item() == pytest.approx(float(into_a @ b), abs=1e-5)
    assert torch.allclose(swaps.share, (swaps.a_from_b + swaps.b_from_a) / 2)
    assert swaps.share[:3].abs().min() > 1e-4 and swaps.share[4].abs() < 1e-6


def test_removals_against_hooks(both):
    encoder, plain = both
    effect = removal_effect(encoder, *pooled(encoder, A, B))
    before = float(plain.vector(A) @ plain.vector(B))
    for layer, head in HEADS:
        after = float(plain.without(A, layer, head) @ plain.without(B, layer, head))
        assert effect[layer, head].item() == pytest.approx(after - before, abs=1e-5)
    assert effect.abs().max() > 1e-4


def test_a_swap_between_a_sentence_and_itself_changes_nothing(both):
    """A replaced mean would: it makes the outputs at all tokens alike."""
    encoder, _ = both
    swaps = swap_pair(encoder, *pooled(encoder, A, B, A), move=True)
    assert swaps.control.abs().max() < 1e-4


def test_by_gradient_it_is_the_slope_of_small_moves(both):
    """Against finite differences by hooks: a hundredth of the way to B's outputs, and away from them."""
    encoder, plain = both
    gradient = swap_pair(encoder, *pooled(encoder, A, B), how="gradient", move=True)
    a, b, own, other = plain.vector(A), plain.vector(B), plain.entering(A), plain.entering(B)
    axis = (b - a) / (b - a).square().sum()
    at = slice(0, 1) if plain.mode == "cls" else slice(None)
    for layer, head in HEADS:
        slot, ends = plain.slot(head), []
        way = other[layer][at, slot].mean(0) - own[layer][at, slot].mean(0)
        for step in (0.01, -0.01):

            def change(of, states, step=step, layer=layer, slot=slot, way=way):
                if of == layer:
                    states[at, slot] += step * way
                return states

            ends.append(plain.vector(A, change))
        slope = float((ends[0] - ends[1]) @ axis) / 0.02
        assert gradient.a_from_b[layer, head].item() == pytest.approx(slope, abs=3e-4, rel=1e-2)
    assert gradient.a_from_b.shape == (3, 4) and gradient.control.isnan().all()


@pytest.mark.slow
def test_the_bundled_embedder_against_plain_transformers(encoder, tmp_path):
    plain = Plain(shutil.copytree(resolve().folder, tmp_path / "bundled"), "mean")
    a, b = plain.vector(A), plain.vector(B)
    heads = [(5, 7), (0, 10)]
    swaps = swap_pair(encoder, *pooled(encoder, A, B), heads=heads, move=True)
    axis = (b - a) / (b - a).square().sum()
    for i, head in enumerate(heads):
        assert swaps.a_from_b[i].item() == pytest.approx(float((plain.swapped(A, B, [head]) - a) @ axis), abs=1e-5)
