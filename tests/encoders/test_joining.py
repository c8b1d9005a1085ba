"""Test that a sentence's copy, run with changed heads, skips the layers before the first changed head."""

from dataclasses import replace

import pytest
import torch

from selfattn import Head, Patch
from selfattn.encoders.encoder import Encoder
from tests.encoders.test_families import RECOMPUTED
from tests.encoders.test_hiding import ONE_MASK, TEXT

# In these families, every layer computes all positions, even if only one word's vector is needed.
ALL_ROWS = (
    "MobileBERT", "ModernBERT", "EuroBERT", "T5 (encoder half)", "mT5 (encoder half)", "DeBERTa", "DeBERTa-v2",
    "DeBERTa-v3", "RoFormer", "RemBERT", "MegatronBERT", "LUKE",
)  # fmt: skip


@pytest.fixture(autouse=True)
def join_few(monkeypatch):
    """Let even one copy skip the layers before its first changed head. Without this fixture, only FEW or more copies do."""
    monkeypatch.setattr("selfattn.encoders.encoder.FEW", 1)


@pytest.mark.parametrize("name", [name for name in RECOMPUTED if name not in ONE_MASK])
@pytest.mark.slow
def test_skipping_unchanged_layers_changes_no_vector(encoder_of, monkeypatch, name):
    encoder = encoder_of(name)
    sets = [*([head] for head in reversed(encoder.all_heads)), [Head(0, 0), Head(1, 1)]]
    zero = [[Patch(*head, None, torch.zeros(encoder.d_head)) for head in some] for some in sets]

    def changed() -> list[torch.Tensor]:
        hidden = encoder.hide(TEXT, (3, 4), [(6, 7)] * len(sets), heads=sets)
        return [hidden, encoder.changed_vectors((TEXT, 4), zero)]

    assert encoder.joinable and encoder.narrowing == (name not in ALL_ROWS)
    joined = changed()
    with monkeypatch.context() as patch:
        patch.setattr(Encoder, "joinable", False)
        patch.delitem(vars(encoder), "joinable")
        plain = changed()
    for ours, theirs in zip(joined, plain):
        torch.testing.assert_close(ours, theirs, atol=1e-5 * float(theirs.abs().max()), rtol=0)
        assert len({tuple(row) for row in ours.tolist()}) == len(sets)  # all changes have different effects


def test_only_needed_positions_of_each_copy_are_computed(encoder, monkeypatch):
    """Each copy of the sentence has one changed head. In that head's layer, only the measured word's vector is computed."""
    batches, receive = [], encoder.model.encoder.layer[0].output.dense.forward.__func__
    for layer in encoder.model.encoder.layer:
        dense = layer.output.dense
        counted = lambda states, dense=dense: (batches.append([*states.shape[:2]]), receive(dense, states))[1]  # noqa: E731
        monkeypatch.setattr(dense, "forward", counted)
    assert encoder.joinable and encoder.narrowing
    batches.clear()
    encoder.hide(TEXT, 4, [6] * 3, heads=[[Head(4, 0)], [Head(2, 1)], [Head(4, 5)]])
    n = len(encoder.tokenize(TEXT).ids)
    assert batches == [[1, n], [1, n], [1, n], [1, 1], [2, n], [2, n], [2, 1], [4, 1]]


def test_xlm_runs_all_layers_if_head_is_removed(encoder_of):
    """XLM has no module for a complete layer, so no layer can be skipped."""
    encoder = encoder_of("XLM")
    assert not encoder.joinable
    vectors = encoder.knock_out(TEXT, 4, heads=[Head(1, 0)])
    removed = encoder.encode(TEXT, patches=encoder.removed([Head(1, 0)]))
    torch.testing.assert_close(vectors[0], removed.hidden[-1, 4], atol=1e-5, rtol=0)


def test_joinable_is_computed_only_for_many_copies_of_text(encoder_of, monkeypatch):
    monkeypatch.setattr("selfattn.encoders.encoder.FEW", 3)
    encoder = replace(encoder_of("BERT"))  # `joinable`, whether a changed copy can skip layers, isn't known yet
    encoder.hide(TEXT, 4, [6] * 2, heads=[[Head(1, 0)]] * 2)
    assert "joinable" not in vars(encoder)
    encoder.hide(TEXT, 4, [6] * 3, heads=[[Head(1, 0)]] * 3)
    assert vars(encoder)["joinable"]
