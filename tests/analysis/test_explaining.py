"""Test `explain` against plain transformers, where attention masks hide words and hooks change heads."""

from dataclasses import replace
from functools import cache

import pandas as pd
import pytest
import torch
from torch.nn.functional import cosine_similarity
from transformers import AutoModel, AutoModelForMaskedLM, AutoModelForSequenceClassification

from selfattn import Head, NotRecomputable, load_encoder
from selfattn.analysis.explaining import explain, heads_by_gradient
from selfattn.analysis.targets import Along, class_score, gap_word, similarity
from selfattn.encoders.classification import load_class_head
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.encoders.masked_lm import load_masked_head
from selfattn.encoders.pooling import load_pooling
from selfattn.senses import over_sentences
from tests.encoders.test_pooling import embedder

# For each family, the module that applies W_O.
ENTERING = {
    "BERT": "attention.output.dense", "RoBERTa": "attention.output.dense", "ELECTRA": "attention.output.dense",
    "DeBERTa": "attention.output.dense", "DeBERTa-v3": "attention.output.dense", "ALBERT": "attention.dense",
    "DistilBERT": "attention.out_lin", "MPNet": "attention.attn.o", "ModernBERT": "attn.Wo",
}  # fmt: skip
CLASSES = ("NEGATIVE", "NEUTRAL", "POSITIVE")
TEXT, SECOND = "She sat by the muddy water, and the banker waited.", "The bank approved the loan in the morning."
HEADS = [Head(0, 1), Head(2, 3)]


@pytest.fixture(scope="module")
def encoder_of(tmp_path_factory):
    """Return a function that makes a family's tiny encoder, with a classification head and pooling."""

    @cache
    def encoder(name):
        folder = save_tiny(FAMILIES[name], tmp_path_factory.mktemp("classes") / "tiny", classes=CLASSES)
        return load_encoder(str(embedder(folder)))

    return encoder


@cache
def transformers_model(kind, folder):
    return kind.from_pretrained(folder, attn_implementation="eager").eval()


def plain(encoder, name, kind, text=TEXT, hidden=(), head=None, scale=0.0):
    """Run transformers' model, mask the positions `hidden`, and multiply one head's output by `scale`."""
    model, calls, slots = transformers_model(kind, encoder.name), [], encoder.d_head

    def change(module, given):
        calls.append(module)
        states = given[0].clone()
        if head is not None and head.layer == len(calls) - 1:
            states[..., head.head * slots : (head.head + 1) * slots] *= scale
        return (states,)

    entering = [module for path, module in model.named_modules() if path.endswith(ENTERING[name])]
    hooks = [module.register_forward_pre_hook(change) for module in entering]
    inputs = encoder.inputs([encoder.tokenize(text)])
    inputs["attention_mask"][0, list(hidden)] = 0
    with torch.no_grad():
        output = model(**inputs)
    for hook in hooks:
        hook.remove()
    assert len(calls) == encoder.n_layers
    return output


def margin(encoder, name, **changes):
    logits = plain(encoder, name, AutoModelForSequenceClassification, **changes).logits[0]
    return float(logits[2] - max(logits[0], logits[1]))


def cosine(encoder, name, hidden=(), **changes):
    states = plain(encoder, name, AutoModel, hidden=hidden, **changes).last_hidden_state[0]
    kept = [at for at in range(len(states)) if at not in hidden]
    other = encoder.encode(SECOND).states[-1].mean(dim=0)
    return float(cosine_similarity(states[kept].mean(dim=0), other, dim=0))


@pytest.mark.parametrize("name", ENTERING)
@pytest.mark.slow
def test_effects_match_plain_transformers(encoder_of, name):
    encoder = encoder_of(name)
    sentence = encoder.tokenize(TEXT)
    targets = {
        margin: class_score(load_class_head(encoder), "POSITIVE"),
        cosine: similarity(encoder, load_pooling(encoder), SECOND),
    }
    for number, target in targets.items():
        found = explain(encoder, sentence, target(sentence), heads=HEADS)
        before = number(encoder, name)
        near = {"abs": 1e-5 * max(1.0, abs(before), float(found.effect.abs().max()))}
        assert found.number == pytest.approx(before, **near)
        assert " ".join(word.text for word in found.words) == "She sat by the muddy water , and the banker waited ."
        for word, effect in zip(found.words, found.effect.tolist()):
            assert effect == pytest.approx(number(encoder, name, hidden=word.positions) - before, **near)
        every = [position for word in found.words for position in word.positions]
        assert found.together == pytest.approx(number(encoder, name, hidden=every) - before, **near)
        for head in HEADS:
            assert float(found.heads[head]) == pytest.approx(number(encoder, name, head=head) - before, **near)
        assert found.heads.isfinite().sum() == 2 and found.by_gradient.isfinite().all() and not found.notes
        assert found.leading[0] == max(HEADS, key=lambda head: abs(found.heads[head]))
        assert found.effect.abs().max() > 1e-3 and abs(found.together - float(found.effect.sum())) > 1e-3


def test_head_effects_by_gradient_match_finite_differences(encoder_of):
    encoder = encoder_of("BERT")
    sentence = encoder.tokenize(TEXT)
    slopes = heads_by_gradient(encoder, sentence, class_score(load_class_head(encoder), "POSITIVE")(sentence))
    for head in HEADS:
        less, more = (margin(encoder, "BERT", head=head, scale=scale) for scale in (0.99, 1.01))
        assert float(slopes[head]) == pytest.approx((less - more) / 0.02, abs=1e-3, rel=1e-2)


@pytest.mark.slow
def test_effects_on_masked_word_match_plain_transformers(tmp_path):
    encoder = load_encoder(str(save_tiny(FAMILIES["BERT"], tmp_path, masked_head=True)))
    sentence = encoder.tokenize("The [MASK] of the river was muddy.")
    token = encoder.tokenize("bank").ids[1]
    target = gap_word(load_masked_head(encoder), token)(sentence)
    found = explain(encoder, sentence, target, heads=HEADS)
    assert [word.text for word in found.words] == ["The", "of", "the", "river", "was", "muddy", "."]

    def log_probability(*hidden, head=None):
        logits = plain(encoder, "BERT", AutoModelForMaskedLM, sentence.text, hidden=hidden, head=head).logits
        return float(logits[0, 2].log_softmax(-1)[token])

    before = log_probability()
    for head in HEADS:
        assert float(found.heads[head]) == pytest.approx(log_probability(head=head) - before, abs=1e-4)
    assert found.number == pytest.approx(before, abs=1e-4)
    for word, effect in zip(found.words, found.effect.tolist()):
        assert effect == pytest.approx(log_probability(*word.positions) - before, abs=1e-4)
    every = [position for word in found.words for position in word.positions]
    assert found.together == pytest.approx(log_probability(*every) - before, abs=1e-4)


def test_explain_never_hides_word_that_target_is_about(encoder_of):
    encoder = encoder_of("BERT")
    sentence = encoder.tokenize(TEXT)
    (word,) = sentence.places("muddy")
    found = explain(encoder, sentence, Along(word.positions, torch.ones(encoder.d_model)), heads=())
    assert "muddy" not in [word.text for word in found.words] and len(found.words) == 11
    assert found.together == found.together
    target = class_score(load_class_head(encoder), "POSITIVE")(sentence)
    inner = replace(target, positions=target.positions[1:-1])  # as if the tokeniser had no special tokens
    found = explain(encoder, sentence, inner, heads=())
    # Hiding all words at once leaves no token of this target.
    assert found.together != found.together and found.effect.isfinite().all()


def test_words_are_hidden_even_if_heads_cannot_be_removed(encoder_of):
    encoder = replace(encoder_of("BERT"), patch_reason="a linear layer is missing")
    sentence = encoder.tokenize(TEXT)
    target = class_score(load_class_head(encoder), "POSITIVE")(sentence)
    found = explain(encoder, sentence, target)
    assert found.heads.isnan().all() and found.by_gradient.isnan().all() and found.effect.isfinite().all()
    assert found.notes == ("No head of tiny can be replaced or removed: a linear layer is missing",)
    with pytest.raises(NotRecomputable):
        heads_by_gradient(encoder, sentence, target)


def test_explain_counts_emoji_as_words(encoder_of):
    encoder = encoder_of("RoBERTa")
    sentence = encoder.tokenize("I am 😡, 👩\u200d🚀!")
    target = class_score(load_class_head(encoder), 0)
    found = explain(encoder, sentence, target(sentence))
    assert {found.words[at].text for at in found.order} == {"I", "am", "😡", "👩\u200d🚀"}
    report = over_sentences(encoder, pd.DataFrame({"sentence": ["I am 😡!", "We are 😡"]}), target)
    assert report.words.set_index("word").loc["😡", "n"] == 2
