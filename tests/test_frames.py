"""Tensors to tidy frames, on small hand-made cases with a repeated token."""

import pytest
import torch

from selfattn.frames import (
    context_share,
    drift_frame,
    heads_frame,
    stage_names,
    steps_frame,
    strip_frame,
    weights_frame,
)
from selfattn.kernel import attend


def test_weights_frame_of_two_tokens_that_are_the_same_word():
    frame = weights_frame(torch.tensor([[0.25, 0.75], [0.5, 0.5]]), ["the", "the"])
    assert frame.to_dict("list") == {
        "query_pos": [0, 0, 1, 1],
        "key_pos": [0, 1, 0, 1],
        "query": ["the"] * 4,
        "key": ["the"] * 4,
        "weight": [0.25, 0.75, 0.5, 0.5],
    }


def test_strip_frame_sums_over_the_pieces_of_a_word(encoder):
    encoding = encoder.encode("Electroencephalographers disagree.")
    word = encoding.words[0]
    assert word.stop - word.start > 1
    row = encoding.trace(0, 0).weights[word.start]
    frame = strip_frame(encoding, row, word, "A")
    assert frame["text"].tolist() == ["[CLS]", "Electroencephalographers", "disagree", ".", "[SEP]"]
    assert frame["weight"].sum() == pytest.approx(1, abs=1e-5)
    assert frame["weight"][1] == pytest.approx(row[word.start : word.stop].sum().item(), abs=1e-6)
    assert frame["chosen"].tolist() == [False, True, False, False, False]
    assert frame["special"].tolist() == [True, False, False, False, True]


def test_heads_frame_names_every_head_from_zero():
    frame = heads_frame(effect=torch.tensor([[1.0, 2], [3, 4]]), share=torch.zeros(2, 2))
    assert frame["name"].tolist() == ["L0 H0", "L0 H1", "L1 H0", "L1 H1"]
    assert frame["effect"].tolist() == [1, 2, 3, 4]


def test_steps_frame_holds_the_traces_own_numbers():
    torch.manual_seed(0)
    trace = attend(*torch.randn(3, 3, 4))
    frame = steps_frame(trace, [1], ["a", "b", "a"], "A")
    for step in ("scores", "scaled", "masked", "weights"):
        values = frame.loc[frame["step"] == step, "value"].tolist()
        assert values == pytest.approx(getattr(trace, step)[1].tolist())
    assert frame.loc[frame["step"] == "share", "value"].sum() == pytest.approx(1, abs=1e-5)
    assert frame["key"].tolist()[:3] == ["a", "b", "a"]


def test_shares_of_the_context_are_projections_on_it():
    torch.manual_seed(1)
    trace = attend(*torch.randn(3, 4, 5))
    shares = context_share(trace, [2])
    for j in range(4):
        part = trace.weights[2, j] * trace.value[j]
        expected = (part @ trace.context[2]) / (trace.context[2] @ trace.context[2])
        assert shares[j].item() == pytest.approx(expected.item(), abs=1e-5)


def test_drift_frame_has_a_stage_for_token_position_and_each_layer():
    frame = drift_frame(main=torch.tensor([1.0, 0.9, 0.8]), floor=torch.zeros(3))
    assert stage_names(1) == ["token", "+ position", "after L0"]
    assert frame["stage"].tolist() == stage_names(1) * 2
    assert frame.loc[frame["curve"] == "main", "similarity"].tolist() == pytest.approx([1, 0.9, 0.8])
