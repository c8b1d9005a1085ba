"""Ranks: each method's mark at its own rank for its own word; words by accuracy with their first and last."""

import pandas as pd
import pytest

from selfattn.charts.ranks import METHOD_SHAPES, rank_chart, words_chart
from selfattn.charts.theme import LIGHT
from tests.charts.scene import drawn, texts, tooltip

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
    spec = rank_chart(RANKS, METHODS, LIGHT)
    shapes = dict(zip(METHODS.values(), METHOD_SHAPES))
    assert {item["fill"]: item["shape"] for item in drawn(spec, "symbol")} == shapes
    assert texts(spec, "legend-label") == list(METHODS)
    assert tooltip(spec) == ["word", "method", "rank", "value"]
    said = [set(item["description"].split("; ")) for item in drawn(spec, "symbol")]
    assert any({"word: if", "method: gradients", "rank: 4"} <= entries for entries in said)


@pytest.mark.parametrize(("n", "height"), [(1, 48), (2, 48), (37, 888), (40, 900)])
def test_few_words_have_room_and_many_stay_on_the_screen(n, height):
    assert rank_chart(pd.concat([RANKS] * 10).head(n), METHODS, LIGHT)["height"] == pytest.approx(height)


WORDS = pd.DataFrame(
    {
        "word": ["crane", "if", "constructor"],
        "accuracy": [0.9, 0.8, 0.6],
        "first": [0.5, 0.85, 0.6],
        "sentences": [16, 12, 8],
    }
)


def test_words_have_a_ring_at_the_first_layer_and_a_dot_at_the_last():
    spec = words_chart(WORDS, LIGHT)
    marks = drawn(spec, "symbol")
    assert [item.get("stroke") == LIGHT.muted for item in marks] == [True] * 3 + [False] * 3
    assert [item.get("fill") == LIGHT.signed[-1] for item in marks] == [False] * 3 + [True] * 3
    assert tooltip(spec) == ["word", "after layer 0", "after the last layer", "sentences"]
