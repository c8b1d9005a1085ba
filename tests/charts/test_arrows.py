"""Arrows: from where to where, in which direction the heads point, how thick, and which one is strong."""

import numpy as np
import pandas as pd
import pytest
import torch

from selfattn.charts.arrows import arrows, moves
from selfattn.charts.theme import LIGHT
from tests.charts.scene import drawn, texts, tooltip

FRAME = pd.DataFrame(
    {
        "x": [3.0, 0.0, -2.0, 3.0], "y": [4.0, 2.0, -2.0, 4.0], "kind": ["query", "key", "key", "key"],
        "label": ["its", "if", "crane", "wings"], "score": [np.nan, 0.5, -1.0, 0.25],
    }
)  # fmt: skip


def test_arrows_go_from_the_origin_as_thick_as_their_score_the_strong_one_last_in_ink():
    spec = arrows(FRAME, LIGHT, "score", "query", size=320)
    shafts = drawn(spec, "rule")
    assert [shaft["strokeWidth"] for shaft in shafts] == pytest.approx([4.0, 7.0, 2.5, 2.0])
    assert [shaft["stroke"] for shaft in shafts] == [LIGHT.weights[3]] * 3 + [LIGHT.ink]
    origin = (shafts[0]["x"], shafts[0]["y"])
    unit = 320 / (6 + 0.18 * 6 * 2)  # pixels a unit, the same on both axes
    # The third, "wings", has the direction of "its" and stands a step to its right.
    step = 0.03 * 320
    assert (shafts[2]["x"] - origin[0], shafts[2]["y"] - origin[1]) == pytest.approx((step * 0.8, step * 0.6), abs=0.1)
    for shaft, (x, y) in zip([*shafts[:2], shafts[3]], [(0, 2), (-2, -2), (3, 4)]):
        assert (shaft["x"], shaft["y"]) == pytest.approx(origin)
        assert ((shaft["x2"] - origin[0]) / unit, (origin[1] - shaft["y2"]) / unit) == pytest.approx((x, y))
    heads = [item for item in drawn(spec, "symbol") if item.get("shape") == "triangle"]
    assert [head["angle"] for head in heads] == pytest.approx([0, 225 - 360, 36.8699, 36.8699], abs=1e-3)
    assert tooltip(spec) == ["label", "x", "y", "score"]


def test_arrows_that_end_at_one_point_share_a_label():
    spec = arrows(FRAME, LIGHT, "score", "query")
    assert sorted({text for text in texts(spec) if text}) == ["crane", "if", "its, wings"]
    inks = {item["text"]: item["fill"] for item in drawn(spec, "text") if item.get("fill") and item["text"]}
    assert inks["its, wings"] == LIGHT.ink and inks["crane"] == LIGHT.weights[3]


MOVES = pd.DataFrame(
    {
        "x0": [0.0, 1.0], "y0": [0.0, 1.0], "x": [2.0, 1.0], "y": [2.0, -1.0], "label": ["A", "B"],
        "colour": [LIGHT.sentence_a, LIGHT.sentence_b], "detail": ["crane in A", "crane in B"],
    }
)  # fmt: skip


def test_moves_go_from_start_to_end_each_in_its_colour():
    spec = moves(MOVES, LIGHT, within=torch.tensor([[0.0, -1.0], [2.0, 2.0]]), size=(300, 200))
    shafts = drawn(spec, "rule")
    assert [shaft["stroke"] for shaft in shafts] == [LIGHT.sentence_a, LIGHT.sentence_b]
    unit = (300 - 2 * 36) / 2
    assert [(shaft["x2"] - shaft["x"]) / unit for shaft in shafts] == pytest.approx([2, 0])
    unit = (200 - 2 * 36) / 3
    assert [(shaft["y"] - shaft["y2"]) / unit for shaft in shafts] == pytest.approx([2, -2])
    heads = [item for item in drawn(spec, "symbol") if item.get("shape") == "triangle"]
    assert [head["angle"] for head in heads] == pytest.approx([45, 180])
    assert [(item["text"], item["fill"]) for item in drawn(spec, "text")] == [
        ("A", LIGHT.sentence_a), ("B", LIGHT.sentence_b),
    ]  # fmt: skip
    starts = [item for item in drawn(spec, "symbol") if item.get("fill") == LIGHT.ink]
    assert [(item["x"], item["y"]) for item in starts] == [(shaft["x"], shaft["y"]) for shaft in shafts]


def test_the_axes_stay_put_where_they_are_told_what_to_hold():
    wide = torch.tensor([[-9.0, -9.0], [9.0, 9.0]])
    spots = [drawn(moves(frame, LIGHT, within=wide), "rule")[0]["x"] for frame in (MOVES, MOVES.head(1))]
    assert spots[0] == spots[1] == pytest.approx(225)
