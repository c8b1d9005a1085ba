"""Test removed heads on What it cannot tell: one at a time, all at once, and effects under the noise."""

import numpy as np
import pytest

from selfattn.numbers import change, effect
from selfattn.panel import Look
from selfattn.tidy_tables import heads_frame
from selfattn.views import limits
from selfattn.views.rounding import NOISE
from tests.charts.scene import drawn

EFFECTS = np.array([[0.01, -0.03], [0.002, 0.004]])


def frame():
    return heads_frame(effect=EFFECTS, control=EFFECTS / 2)


def test_sum_of_removed_heads_and_all_at_once():
    panel = limits.removed_heads(frame(), 0.02, "float32")
    assert panel.finding == (
        f"Removed one at a time, the heads change the cosine by {change(-0.014)} in all; removed together, by {change(0.02)}."
    )
    assert panel.note == f"One head alone also moves two sentences of one sense, the control: by {effect(-0.015)}."
    assert panel.table["change of the cosine"].dropna().tolist() == pytest.approx([-0.014, 0.02, -0.03, -0.015])
    printed = [text["text"] for text in drawn(panel.picture(Look()), "text")]
    assert {effect(-0.014), effect(0.02)} <= {*printed}


def test_effects_under_the_noise(monkeypatch):
    monkeypatch.setitem(NOISE, "float32", 0.005)
    panel = limits.removed_heads(frame(), 0.02, "float32")
    assert f"by {change(-0.02)} in all;" in panel.finding
    assert "by up to 0.005: 2 of 4 heads lie under that" in panel.note
