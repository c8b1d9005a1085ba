"""Test the panels of the page "What it cannot tell"."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from selfattn import Head
from selfattn.numbers import change, effect, error
from selfattn.panel import Look
from selfattn.tidy_tables import heads_frame
from selfattn.views import limits
from selfattn.views.rounding import NOISE
from tests.charts.scene import drawn

EFFECTS = np.array([[0.01, -0.03], [0.002, 0.005]])


def frame():
    return heads_frame(effect=EFFECTS, control=EFFECTS / 2)


def test_finding_compares_removing_one_head_with_removing_all():
    panel = limits.removed_heads(frame(), 0.02, "float32")
    assert panel.finding == (
        f"Removing one head at a time changes the cosine by amounts that sum to {change(-0.013)}. Removing all heads together "
        f"changes the cosine by {change(0.02)}."
    )
    assert panel.note == f"Control: in two sentences of one sense, the largest effect of one head is {effect(-0.015)}."
    assert panel.table["change of the cosine"].dropna().tolist() == pytest.approx([-0.013, 0.02, -0.03, -0.015])
    printed = [text["text"] for text in drawn(panel.picture(Look()), "text")]
    assert {effect(-0.013), effect(0.02)} <= {*printed}


def test_panel_is_omitted_if_little_weight_can_move(monkeypatch):
    before, after = torch.tensor([0.5, *[0.0625] * 8, 0.0]), torch.tensor([0.49, *[0.0625] * 8, 0.01])
    passage = SimpleNamespace(tokens=[f"t{n}" for n in range(10)], text="One. Two.")

    def panel(moved):
        row = Head(0, 1), SimpleNamespace(moved=moved, before=before, after=after, difference=1e-7)
        monkeypatch.setattr(limits.counterexamples, "freest_row", lambda passage, place: row)
        return limits.other_weights(passage)

    assert panel(0.0099) is None
    own = panel(0.01)
    assert own.finding.startswith('In L0 H1, "t2" could move 1\u00a0% of its attention to other tokens')
    first, second = (
        own.table[title].dropna().tolist() for title in ("weights of the head", "other weights, same context")
    )
    assert first == pytest.approx([0.5, *[0.0625] * 8]) and second == pytest.approx([0.49, *[0.0625] * 7, 0.0725])
    spec = own.picture(Look())
    assert spec["columns"]["signal"].endswith("1 : 2") and json.dumps(spec).count('"domain": [0, 0.6]') == 2


@pytest.mark.parametrize("low", [0.3, 0.45])
def test_best_head_is_compared_with_guessing(monkeypatch, low):
    chosen = SimpleNamespace(
        chosen_with=0.9, luck=0.85, accuracy=0.5, interval=(low, 0.7), n=20, head=Head(0, 1), p_value=0.4
    )
    monkeypatch.setattr(limits.pronouns, "choose_head", lambda weights, first, second: chosen)
    own = limits.lucky_head(SimpleNamespace(preference=torch.zeros(3, 2, 2)))
    assert own.finding.startswith(
        "The best of 4 heads is right in 90 of 100 sentences; if all heads guessed, the best would reach 85"
    )
    assert own.table["value"].tolist() == [0.9, 0.85, 0.5] and own.table["low"].tolist()[2] == low
    assert f'"domain": [{min(low, 0.4)}, 1.0]' in json.dumps(own.picture(Look()))


def test_finding_states_largest_difference_from_torch():
    kernel, torchs = limits.counterexamples.noise_weights()
    largest = float((kernel - torchs).abs().max())
    assert (
        limits.recomputed_noise().finding.endswith(f"the weights differ by at most {error(largest)}.") and largest > 0
    )


def test_effects_below_noise_count_as_zero(monkeypatch):
    monkeypatch.setitem(NOISE, "float32", 0.005)
    panel = limits.removed_heads(frame(), 0.02, "float32")
    assert f"sum to {change(-0.015)}." in panel.finding
    assert "of up to 0.005. Smaller effects, in 1 of 4 heads, are drawn as 0." in panel.note
