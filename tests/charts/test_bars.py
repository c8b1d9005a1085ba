"""Bars: labels that fit, the lengths and signs of a list, what is all zero; where they stand: test_places.py."""

import json
import math
import re

import pandas as pd
import pytest

from selfattn.charts.bars import Row, bar_list, bars, butterfly
from selfattn.charts.head_map import head_map
from selfattn.charts.theme import LIGHT
from tests.charts.scene import drawn, texts

FEW = ["its", "wings"]


@pytest.mark.parametrize(("n", "labels"), [(28, 28), (29, 0)])
def test_many_bars_keep_their_labels_in_the_tooltip(n, labels):
    spec = bars([Row("A", [0.5] * n, [f"w{i}" for i in range(n)], LIGHT.sentence_a, 1)], LIGHT)
    assert len([text for text in texts(spec, "axis-label") if text.startswith("w")]) == labels
    assert any(f"label: w{n - 1}" in item["description"] for item in drawn(spec, "rect"))


def test_long_labels_stand_whole_beneath_every_bar_of_a_row_with_a_mask():
    labels = ["[CLS]", "unbelievably", "photographed", "[PAD]"] * 3
    spec = bars([Row("A", [0.5] * 9 + [-math.inf] * 3, labels, LIGHT.sentence_a, 2)], LIGHT, top=0.8)
    assert [text for text in texts(spec, "axis-label") if text in labels] == labels
    assert spec["vconcat"][0]["layer"][0]["encoding"]["y"]["scale"]["domain"] == [0.0, 0.8]
    assert spec["vconcat"][0]["layer"][0]["encoding"]["x"]["axis"]["labelAngle"] == -45
    short = bars([Row("A", [0.5] * 4, ["a", "b", "the", "bank"], LIGHT.sentence_a, 2)], LIGHT)
    assert short["vconcat"][0]["layer"][0]["encoding"]["x"]["axis"]["labelAngle"] == 0


LIST = pd.DataFrame({"token": ["its", "wings", "if", "its"], "score": [1.0, 3.0, -1.0, 0.5]})


def test_a_list_has_a_bar_and_a_number_a_row_in_the_frames_order():
    spec = bar_list(LIST, "score", LIGHT)
    found = drawn(spec, "rect")
    unit = 240 / (4 + 0.25 * 4 * 2)  # the list's own range and a quarter of it at both ends
    assert [item["width"] for item in found] == pytest.approx([unit, 3 * unit, unit, 0.5 * unit])
    assert found[2]["x"] + found[2]["width"] == pytest.approx(found[0]["x"]), "negative to the left of zero"
    assert texts(spec) == ["1.00", "3.00", "−1.00", "0.50"]
    assert [item["fill"] == LIGHT.weights[4] for item in found] == [False, True, False, False], (
        "the largest is deep blue"
    )


def zeros(*columns, **more):
    return pd.DataFrame(0.0, index=[0, 1], columns=list(columns)).assign(**more)


@pytest.mark.parametrize(
    ("spec", "domain"),
    [
        (bars([Row("A", [0.0, 0.0], FEW, LIGHT.ink)], LIGHT), [0, 1]),
        (bar_list(zeros("score", token=FEW), "score", LIGHT), [0, 0.25]),
        (head_map(zeros("effect", layer=0, head=[0, 1]), "effect", LIGHT, ""), [-1, -0.5, 0, 0.5, 1]),
        (butterfly(zeros("a", "b", text=FEW, only=""), LIGHT, name=""), [-1.25, 1.25]),
    ],
)
def test_what_is_all_zero_has_a_scale_of_its_own(spec, domain):
    domains = re.findall(r'"domain": (\[[^a-z]*?\])', json.dumps(spec))
    assert pytest.approx(domain) in [json.loads(each) for each in domains]
