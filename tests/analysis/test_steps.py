"""Test each step of every head against the model."""

import math
from dataclasses import replace

import pytest

from selfattn.analysis.steps import head_steps
from selfattn.encoders.errors import NotRecomputable

TEXT = "The bank of the river was muddy after the unbelievably long rain."
NAMES = ["input", "query", "key", "value", "weights", "context", "output"]


@pytest.fixture(scope="module")
def encoding(encoder):
    return encoder.encode(TEXT)


@pytest.mark.parametrize("pad_to", [None, 30])
def test_every_step_has_small_error(encoder, pad_to):
    encoding = encoder.encode(TEXT, pad_to=pad_to)
    for layer, head in encoder.all_heads[:: 7 if pad_to else 1]:
        steps = head_steps(encoder, encoding, layer, head)
        assert [step.name for step in steps.steps] == NAMES
        for step in steps.steps[1:]:
            assert step.error <= 1e-5 * max(step.size, 1e-3), (layer, head, step.name, step.error)
        assert steps["weights"].error <= 1e-5
        assert not pad_to or (steps["weights"].values[:, -1] == 0).all()
    table = steps.errors.set_index("step")
    assert list(table.index) == NAMES and table["error"]["context"] == steps["context"].error
    assert table["size"]["weights"] == steps["weights"].size and math.isnan(table["error"]["input"])


def test_step_error_is_largest_difference_from_model(encoder, encoding):
    step = head_steps(encoder, encoding, 0, 0)["weights"]
    shifted = step.own.clone()
    shifted[2, 3] += 0.25
    assert replace(step, own=shifted).error == pytest.approx(0.25, abs=1e-4)


# For each family, the terms added to the scaled scores.
TERMS = {
    "DeBERTa": ["content to position", "position to content"],
    "DeBERTa-v3": ["content to position", "position to content"],
    "MPNet": ["position bias"],
    "T5 (encoder half)": ["position bias"],
}


@pytest.mark.parametrize("name", [*TERMS, "RoFormer", "ModernBERT", "MobileBERT", "NomicBERT", "MegatronBERT"])
@pytest.mark.slow
def test_head_steps_match_model_in_each_family(name, encoder_of):
    encoder, terms = encoder_of(name), TERMS.get(name, [])
    encoding = encoder.encode("The bank of the river was muddy.")
    for layer, head in encoder.all_heads:
        steps = head_steps(encoder, encoding, layer, head)
        assert [term.name for term in steps.trace.terms] == terms
        assert all(term.values.abs().max() > 0.1 for term in steps.trace.terms)  # a term of zeros would prove nothing
        assert ("turned query" in steps) == (name in ("ModernBERT", "NomicBERT"))
        # ModernBERT normalises its embeddings, so its first layer has no norm before attention.
        own_norm = name in ("MobileBERT", "T5 (encoder half)", "MegatronBERT") or (name == "ModernBERT" and layer > 0)
        assert ("read" in steps) == own_norm
        far = [step.name for step in steps.steps if step.own is not None and step.error > 1e-4 * max(step.size, 1e-3)]
        assert not far, (layer, head, far)
        assert steps["weights"].error <= 1e-5


def test_steps_without_projections_start_at_query(encoder, encoding, monkeypatch):
    monkeypatch.setattr("selfattn.encoders.projections.output_layer", lambda module, around: None)
    steps = head_steps(encoder, encoding, 2, 4)
    assert [step.name for step in steps.steps] == ["query", "key", "value", "weights", "context"]
    assert "recomputed from the recorded query, key and value" in steps.note
    assert steps["weights"].error <= 1e-5


def test_head_steps_refuses_unsupported_encoder(encoder_of):
    encoder = encoder_of("XLNet")
    with pytest.raises(NotRecomputable):
        head_steps(encoder, encoder.encode("The bank."), 0, 0)
