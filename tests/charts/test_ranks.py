"""Ranks: each method's mark and what it says; where they stand: test_places.py."""

import pandas as pd
import pytest

from selfattn.charts.ranks import METHOD_SHAPES, rank_chart
from selfattn.charts.theme import LIGHT
from tests.charts.scene import drawn, texts

RANKS = pd.DataFrame(
    {
        "word": ["The", "if", "beam", "steel"],
        "rollout": [0.1, 0.4, 0.2, 0.3], "rollout rank": [4, 1, 3, 2],
        "gradients": [0.5, -0.1, 0.2, 0.3], "gradients rank": [1, 4, 3, 2],
        "occlusion": [0.1, 0.9, 0.2, 0.2], "occlusion rank": [4, 1, 2, 3],
    }
)  # fmt: skip
METHODS = {"rollout": LIGHT.muted, "gradients": LIGHT.weights[3], "occlusion": LIGHT.effect[-1]}


@pytest.mark.slow
def test_every_method_has_its_shape_and_its_colour():
    spec = rank_chart(RANKS, METHODS, LIGHT, width=400)
    shapes = dict(zip(METHODS.values(), METHOD_SHAPES))
    assert {item["fill"]: item["shape"] for item in drawn(spec, "symbol")} == shapes
    assert texts(spec, "legend-label") == list(METHODS)
    said = [set(item["description"].split("; ")) for item in drawn(spec, "symbol")]
    assert any({"word: if", "method: gradients", "rank: 4"} <= entries for entries in said)


@pytest.mark.parametrize(("n", "height"), [(1, 48), (2, 48), (37, 888), (40, 900)])
def test_few_words_have_room_and_many_stay_on_the_screen(n, height):
    assert rank_chart(pd.concat([RANKS] * 10).head(n), METHODS, LIGHT, width=400)["height"] == pytest.approx(height)
