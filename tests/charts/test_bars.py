"""Test the chart that draws a list as bars."""

import json
import re

import pandas as pd
import pytest

from selfattn.charts.bars import bar_list
from selfattn.charts.head_map import head_map
from selfattn.charts.theme import LIGHT
from tests.charts.scene import drawn, texts

FEW = ["its", "wings"]


LIST = pd.DataFrame({"token": ["its", "wings", "if", "its"], "score": [1.0, 3.0, -1.0, 0.5]})


def test_bars_keep_order_of_rows():
    spec = bar_list(LIST, "score", LIGHT)
    found = drawn(spec, "rect")
    unit = 240 / (4 + 0.25 * 4 * 2)  # the range of the scores, plus a quarter at both ends
    assert [item["width"] for item in found] == pytest.approx([unit, 3 * unit, unit, 0.5 * unit])
    assert found[2]["x"] + found[2]["width"] == pytest.approx(found[0]["x"]), "negative bars end at zero"
    assert texts(spec) == ["1.00", "3.00", "−1.00", "0.50"]
    assert [item["fill"] == LIGHT.weights[4] for item in found] == [False, True, False, False], (
        "only the largest bar is deep blue"
    )


def zeros(*columns, **more):
    return pd.DataFrame(0.0, index=[0, 1], columns=list(columns)).assign(**more)


@pytest.mark.parametrize(
    ("spec", "domain"),
    [
        (bar_list(zeros("score", token=FEW), "score", LIGHT), [0, 0.25]),
        (head_map(zeros("effect", layer=0, head=[0, 1]), "effect", LIGHT, ""), [-1, -0.5, 0, 0.5, 1]),
    ],
)
def test_all_zero_chart_has_nonempty_axis_range(spec, domain):
    domains = re.findall(r'"domain": (\[[^a-z]*?\])', json.dumps(spec))
    assert pytest.approx(domain) in [json.loads(each) for each in domains]
