"""Curves: each point's number at its place, what an axis holds."""

import pandas as pd
import pytest

from selfattn.charts.curves import lines
from selfattn.charts.theme import LIGHT
from tests.charts.scene import drawn


def points(spec):
    """The points of each colour, from the left."""
    found = {}
    for item in sorted(drawn(spec, "symbol"), key=lambda item: item["x"]):
        found.setdefault(item["fill"], []).append(item)
    return found


def heights(items):
    """Where points stand between the lowest (0) and the highest (1)."""
    ys = [item["y"] for item in items]
    return [(max(ys) - y) / (max(ys) - min(ys)) for y in ys]


@pytest.mark.parametrize("log", ["", "x", "y", "xy"])
def test_logarithmic_axes_are_the_ones_that_were_asked_for(log):
    frame = pd.DataFrame({"n": [1, 4, 16], "ms": [1.0, 100.0, 10000.0]})
    (found,) = points(lines(frame, "n", "ms", LIGHT, log=log)).values()
    xs = [item["x"] for item in found]
    assert ((xs[1] - xs[0]) / (xs[2] - xs[0]) == pytest.approx(0.5)) == ("x" in log)
    assert (heights(found)[1] == pytest.approx(0.5)) == ("y" in log)


def test_the_domain_of_y_is_the_callers():
    frame = pd.DataFrame({"epoch": [0, 1], "rate": [0.25, 0.5]})
    (found,) = points(lines(frame, "epoch", "rate", LIGHT, domain=(0, 1), size=(100, 200))).values()
    assert [item["y"] for item in found] == pytest.approx([150, 100])
    (found,) = points(lines(frame, "epoch", "rate", LIGHT, size=(100, 200))).values()
    assert [item["y"] for item in found] == pytest.approx([100, 0])  # else from zero
