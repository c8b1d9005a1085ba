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
def test_every_methods_mark_stands_at_its_rank_in_its_words_row():
    spec = rank_chart(RANKS, METHODS, LIGHT, width=400)
    shapes = dict(zip(METHODS.values(), METHOD_SHAPES))
    found = {}
    for item in drawn(spec, "symbol"):
        assert item["shape"] == shapes[item["fill"]]
        found.setdefault(item["fill"], []).append((int(item["y"] // 24), round(item["x"] / 100 + 0.5)))
    for method, color in METHODS.items():
        assert found[color] == list(enumerate(RANKS[f"{method} rank"])), method
    assert texts(spec, "legend-label") == list(METHODS)
    assert [text for text in texts(spec, "axis-label") if not text.isdigit()] == ["The", "if", "beam", "steel"]
    assert tooltip(spec) == ["word", "method", "rank", "value"]
    said = [set(item["description"].split("; ")) for item in drawn(spec, "symbol")]
    assert any({"word: if", "method: gradients", "rank: 4"} <= entries for entries in said)


def test_a_line_joins_a_words_first_rank_with_its_last():
    rules = drawn(rank_chart(RANKS, METHODS, LIGHT, width=400), "rule")
    ends = {int(rule["y"] // 24): (rule["x"] / 100 + 0.5, rule["x2"] / 100 + 0.5) for rule in rules}
    ranks = RANKS.filter(like="rank")
    assert ends == {
        i: pytest.approx((min(row), max(row))) for i, row in enumerate(ranks.to_numpy().tolist()) if min(row) < max(row)
    } | {i: pytest.approx((row[0], row[0])) for i, row in enumerate(ranks.to_numpy().tolist()) if min(row) == max(row)}


WORDS = pd.DataFrame(
    {
        "word": ["crane", "if", "constructor"],
        "accuracy": [0.9, 0.8, 0.6],
        "first": [0.5, 0.85, 0.6],
        "sentences": [16, 12, 8],
    }
)


def test_words_have_a_ring_at_the_first_layer_and_a_dot_at_the_last():
    spec = words_chart(WORDS, LIGHT, width=430)
    unit = 430 / (1.03 - 0.27)
    marks = drawn(spec, "symbol")
    rings = [item["x"] for item in marks if item.get("stroke") == LIGHT.muted]
    dots = [item["x"] for item in marks if item.get("fill") == LIGHT.signed[-1]]
    assert rings == pytest.approx([(value - 0.27) * unit for value in WORDS["first"]])
    assert dots == pytest.approx([(value - 0.27) * unit for value in WORDS["accuracy"]])
    ys = [item["y"] for item in marks if item.get("fill") == LIGHT.signed[-1]]
    assert ys == sorted(ys)
    assert [text for text in texts(spec, "axis-label") if not text[0].isdigit()] == WORDS["word"].tolist()
    assert tooltip(spec) == ["word", "after layer 0", "after the last layer", "sentences"]
