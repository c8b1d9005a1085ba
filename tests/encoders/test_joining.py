"""Copies of a sentence may join its forward pass at a later layer. The numbers are those of complete passes."""

from dataclasses import replace

import pytest
import torch

from selfattn import Head, Patch
from selfattn.encoders.encoder import Encoder
from tests.encoders.test_families import RECOMPUTED
from tests.encoders.test_hiding import ONE_MASK, TEXT

# In these families every layer runs all rows, because layers change the input of attention or hooks record all rows.
ALL_ROWS = (
    "MobileBERT", "ModernBERT", "EuroBERT", "T5 (encoder half)", "mT5 (encoder half)", "DeBERTa", "DeBERTa-v2",
    "DeBERTa-v3", "RoFormer", "RemBERT", "MegatronBERT", "LUKE",
)  # fmt: skip


@pytest.fixture(autouse=True)
def join_few(monkeypatch):
    """Join copies even if there are only a few."""
    monkeypatch.setattr("selfattn.encoders.encoder.FEW", 1)


@pytest.mark.parametrize("name", [name for name in RECOMPUTED if name not in ONE_MASK])
@pytest.mark.slow
def test_joined_copies_equal_complete_passes(encoder_of, monkeypatch, name):
    """Hide a split word in each head, in reverse order, and in two heads together. Then remove the same heads."""
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
        assert len({tuple(row) for row in ours.tolist()}) == len(sets)  # all have different effects


def test_joined_copies_run_only_the_needed_rows(encoder, monkeypatch):
    """Copies run only the word's row in the layer where they join. In the last layer, the sentence also runs only this row."""
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


def test_copies_of_xlm_run_complete_passes(encoder_of):
    """XLM has no module for a complete layer, so its copies can't join."""
    encoder = encoder_of("XLM")
    assert not encoder.joinable
    vectors = encoder.knock_out(TEXT, 4, heads=[Head(1, 0)])
    removed = encoder.encode(TEXT, patches=encoder.removed([Head(1, 0)]))
    torch.testing.assert_close(vectors[0], removed.hidden[-1, 4], atol=1e-5, rtol=0)


def test_joining_is_checked_only_if_enough_copies_run(encoder_of, monkeypatch):
    monkeypatch.setattr("selfattn.encoders.encoder.FEW", 3)
    encoder = replace(encoder_of("BERT"))  # joining isn't checked yet
    encoder.hide(TEXT, 4, [6] * 2, heads=[[Head(1, 0)]] * 2)
    assert "joinable" not in vars(encoder)
    encoder.hide(TEXT, 4, [6] * 3, heads=[[Head(1, 0)]] * 3)
    assert vars(encoder)["joinable"]
