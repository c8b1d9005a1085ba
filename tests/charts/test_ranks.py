"""Words by accuracy with their first and last."""

import pandas as pd

from selfattn.charts.ranks import words_chart
from selfattn.charts.theme import LIGHT
from tests.charts.scene import drawn

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
