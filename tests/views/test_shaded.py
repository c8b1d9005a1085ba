"""Test the picture of sentences with tinted words."""

import math

import pandas as pd
import pytest

from selfattn import numbers
from selfattn.charts.theme import DARK
from selfattn.panel import Look
from selfattn.views.shaded import Tint, shaded_data, shaded_picture
from tests.charts.scene import drawn

WORDS = [
    ("a", "The", 0.02, "word"), ("a", "bank", math.nan, "chosen"), ("a", "river", 0.44, "word"), ("a", ".", 0.3, "punctuation"),
    ("b", "A", -0.12, "word"), ("b", "loan", 0.16, "word"), ("b", "bank", math.nan, "chosen"),
]  # fmt: skip
FRAME = pd.DataFrame(WORDS, columns=["row", "text", "share", "kind"]).assign(gap=[0, 1, 1, 0, 0, 1, 1])
SAID = {"a": "riverside", "b": "finance"}


def made(level, frame=FRAME):
    return shaded_data(frame, SAID, Tint("share", numbers.percent, "{} of the way", 0.4, level), "Open it")


@pytest.mark.parametrize(
    ("level", "depths", "printed", "leaders"),
    [
        (0.2, [0, 0, 100, 75, 0, 0, 0], ["44 %", "30 %", "16 %"], ["loan"]),
        (-math.inf, [5, 0, 100, 75, -30, 40, 0], ["2 %", "44 %", "30 %", "−12 %", "16 %"], []),
        (math.inf, [0] * 7, ["44 %", "16 %"], ["river", "loan"]),
    ],
)
def test_tint_starts_at_noise_level(level, depths, printed, leaders):
    words = [word for row in made(level)["rows"] for word in row["words"]]
    assert [word["depth"] for word in words] == depths
    assert [word["number"] for word in words if word["number"]] == printed
    assert [word["text"] for word in words if word["kind"] == "leader"] == leaders
    assert words[2]["tip"] == "river: 44 % of the way" and words[1]["tip"] == ""


@pytest.mark.parametrize("width", [None, 120])
def test_numbers_are_beneath_words(width):
    spec = shaded_picture(made(0.2))["picture"](Look(dark=True, width=width))
    texts = {item["text"]: item for item in drawn(spec, "text")}
    assert texts.keys() == {*FRAME["text"], *SAID.values(), "44 %", "30 %", "16 %"}
    assert texts["44 %"]["y"] > texts["river"]["y"] and texts["44 %"]["fill"] == DARK.effect[-1]
    assert texts["16 %"]["fill"] == DARK.muted
    river, full_stop, loan = drawn(spec, "rect")
    chosen = [item["x"] for item in drawn(spec, "text") if item["text"] == "bank"]
    assert [rule["x"] for rule in drawn(spec, "rule")] == chosen  # the chosen word is underlined
    assert river["fillOpacity"] == 1 and full_stop["fillOpacity"] == 0.75 and loan["fill"] == DARK.grid
    assert all(item["x"] < (width or 760) + 8 for item in texts.values())


def test_right_to_left_sentence_is_drawn_from_right():
    frame = pd.DataFrame({"row": "a", "text": ["שלום", "עולם"], "gap": [False, True], "share": 0.1, "kind": "word"})
    data = shaded_data(frame, {"a": "said"}, Tint("share", numbers.percent, "{}", 0.4))
    assert data["rows"][0]["dir"] == "rtl"
    texts = drawn(shaded_picture(data)["picture"](Look()), "text")
    first, second = (next(item for item in texts if word in item["text"]) for word in frame["text"])
    assert first["x"] > second["x"]
