"""Test the picture that compares two texts."""

import numpy as np
import pytest
import torch

from selfattn.analysis.cosine_parts import CosineParts
from selfattn.charts.similar import STEPS, _curve
from selfattn.charts.theme import LIGHT
from selfattn.panel import Look
from selfattn.views.similar import put_together
from tests.charts.scene import drawn, texts

COSINES = torch.tensor([[0.6, 0.4, 0.8], [0.5, 0.5, 0.5], [0.9, 0.5, 0.5], [1.0, 0.5, 0.5]])


@pytest.fixture(scope="module")
def panel(encoder):
    """Return a function that makes a panel from a (4, 3) table of the cosine's parts."""
    sides = encoder.encode("We sat."), encoder.encode("She sat")

    def made(table):
        parts = CosineParts(a=sides[0], b=sides[1], cosine=0.6, table=table.double())
        return put_together(*sides, COSINES, parts)

    return made


def test_curve_is_cubic_bezier():
    points = np.array(_curve((10.0, 20.0), (110.0, 220.0)))
    assert len(points) == STEPS + 1
    assert points[0] == pytest.approx([10, 20]) and points[-1] == pytest.approx([110, 220])
    assert points[STEPS // 2] == pytest.approx([60, 120])
    t = 0.25  # control points at (10, 120) and (110, 120)
    x = (1 - t) ** 2 * (1 + 2 * t) * 10 + t**2 * (3 - 2 * t) * 110
    y = (1 - t) ** 3 * 20 + 3 * t * (1 - t) * 120 + t**3 * 220
    assert points[STEPS // 4] == pytest.approx([x, y])


def test_colour_of_number_shows_its_sign(panel):
    colors = {item["text"]: item["fill"] for item in drawn(panel(torch.eye(4, 3) / 5).picture(Look()), "text")}
    assert {colors[number] for number in ("−0.10", "−0.20")} == {LIGHT.effect[0]}
    assert {colors[number] for number in ("+0.30", "+0.20")} == {LIGHT.effect[4]}


def test_sum_has_two_parts_if_no_word_pair_is_strong(panel):
    table = torch.zeros(4, 3)
    table[:3, :2], table[3, 2] = 0.05, 0.3  # no pair of words adds more than the others
    text = " ".join(texts(panel(table).picture(Look())))
    assert "As a sum: 0.300 all other pairs of words + 0.300 pairs with a special token = 0.600 (differs" in text


def test_punctuation_is_not_tinted(panel):
    words = panel(torch.eye(4, 3) / 5).live.data["sides"][0]["words"]
    assert [(word["text"], word["depth"]) for word in words] == [("We", -33), ("sat", 100), (".", 0)]
