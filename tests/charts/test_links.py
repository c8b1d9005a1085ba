"""Lines from a word: to the right words, as thick as the weights, a colour a head."""

import pandas as pd
import pytest

from selfattn.charts.links import SOURCE_COLORS, links
from selfattn.charts.theme import LIGHT
from selfattn.tidy_tables import strip_frame
from tests.charts.scene import drawn


@pytest.fixture(scope="module")
def frame(sides):
    side = sides["B"]
    rows = {"L3 H7": side.weights[side.word.start], "L0 H4": side.encoding.weights(0, 4)[side.word.start]}
    return pd.concat(
        [strip_frame(side.encoding, row, side.word, "B").assign(source=source) for source, row in rows.items()]
    )


def test_each_line_is_as_thick_as_its_weight_in_its_heads_colour(frame):
    wanted = frame[frame["weight"] >= 0.005]
    found = drawn(links(frame, "crane", LIGHT, word_place=2, color=LIGHT.sentence_b), "rule")
    assert len(found) == len(wanted)
    for line, (_, row) in zip(found, wanted.iterrows()):
        assert line["strokeWidth"] == pytest.approx(0.4 + 17.6 * row["weight"], abs=1e-3)
        assert line["stroke"] == dict(zip(["L3 H7", "L0 H4"], SOURCE_COLORS))[row["source"]]
        assert line["x"] < line["x2"]
