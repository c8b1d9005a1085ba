"""Test the charts of selfattn.charts.arrows and selfattn.charts.hops."""

import numpy as np
import pandas as pd
import pytest

from selfattn.charts.arrows import arrows, moves
from selfattn.charts.hops import hops
from selfattn.charts.theme import LIGHT
from tests.charts.scene import drawn

FRAME = pd.DataFrame(
    {
        "x": [3.0, 0.0, -2.0, 3.0], "y": [4.0, 2.0, -2.0, 4.0], "kind": ["query", "key", "key", "key"],
        "label": ["its", "if", "crane", "wings"], "score": [np.nan, 0.5, -1.0, 0.25],
    }
)  # fmt: skip


def test_arrow_widths_follow_scores():
    spec = arrows(FRAME, LIGHT, "score", "query", size=320)
    shafts = drawn(spec, "rule")
    assert [shaft["strokeWidth"] for shaft in shafts] == pytest.approx([4.0, 7.0, 2.5, 2.0])
    assert [shaft["stroke"] for shaft in shafts] == [LIGHT.weights[3]] * 3 + [LIGHT.ink]
    heads = [item for item in drawn(spec, "symbol") if item.get("shape") == "triangle"]
    assert [head["angle"] for head in heads] == pytest.approx([0, 225 - 360, 36.8699, 36.8699], abs=1e-3)


def test_arrows_with_equal_tips_share_label():
    spec = arrows(FRAME, LIGHT, "score", "query")
    inks = {item["text"]: item["fill"] for item in drawn(spec, "text") if item.get("fill") and item["text"]}
    assert inks["its, wings"] == LIGHT.ink and inks["crane"] == LIGHT.weights[4]


MOVES = pd.DataFrame(
    {
        "x0": [0.0, 1.0, 2.0], "y0": [0.0, 1.0, 2.0], "x": [2.0, 1.0, 2.0], "y": [2.0, -1.0, 2.0], "label": [*"ABC"],
        "colour": LIGHT.ink,
    }
)  # fmt: skip


def test_arrow_runs_from_start_to_end_of_move():
    wide = ((-9.0, 9.0), (-9.0, 9.0))
    both, one = (moves(frame, LIGHT, wide, ("", "")) for frame in (MOVES, MOVES.head(1)))
    starts = [next(rule["x"] for rule in drawn(spec, "rule") if rule["stroke"] == LIGHT.ink) for spec in (both, one)]
    assert starts == pytest.approx([130, 130])
    heads = drawn(both, "symbol")
    assert [item["angle"] for item in heads if item.get("shape") == "triangle"] == pytest.approx([45, 180])
    assert sum(item.get("shape") == "circle" for item in heads) == 1
    assert {"A, C", "B"} <= {item["text"] for item in drawn(both, "text")}


def test_hops_narrow_as_information_is_lost():
    spec = hops(["a", "b", "c", "d"], 1, 3, [1.0, 0.5], LIGHT)
    sets, across = spec["datasets"], spec["layer"][0]["encoding"]
    assert {row["hop"]: row["width"] for row in sets["hops"]} == {1: 8, 2: 4.5}
    assert [(row["x"], row["y"]) for row in (sets["hops"][0], sets["arc"][0])] == [(1, 0), (1, 0.4)]
    assert [row["x"] for row in sets["said"]] == [2, 2]
    for axis in "xy":
        low, high = across[axis]["scale"]["domain"]
        assert all(low <= row[axis] <= high for rows in sets.values() for row in rows)
