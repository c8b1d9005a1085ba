"""Test the chart that draws vectors as rows of cells, and the chart of a dot product's terms."""

import pandas as pd
import pytest

from selfattn import numbers
from selfattn.charts.strips import CELL, LEFT, WIDTH, Strip, product, strips
from selfattn.charts.theme import LIGHT
from tests.charts.scene import drawn, on_ramp, same_color, texts

SHORT, LONG = [1.0, -2.0], [0.5, 0.0, -1.0, 0.25]
GROUPS = [
    ("a short one", [Strip("A", SHORT, LIGHT.sentence_a, "2.24")]),
    ("long ones", [Strip("A", LONG, LIGHT.ink), Strip("B", [0.0] * 4, LIGHT.ink)]),
]


def cells(spec):
    return [item for item in drawn(spec, "rect") if "value" in item.get("description", "")]


@pytest.mark.parametrize(("rest", "bias"), [(0.5, -4.0), (-0.25, None), (0.0, 0.0)])
def test_dot_product_has_bar_for_each_term(rest, bias):
    values = [0.0, 0.0] if bias == 0 else [2.0, -1.0]
    terms = pd.DataFrame({"dimension": [7, 3], "first": [1.0, 0.5], "second": values, "product": values})
    spec = product(terms, rest, bias, ("in", "W", "others", "sum"), LIGHT)
    bars = [*values, rest, *([] if bias is None else [bias])]
    bars.append(sum(bars))
    rects, zero, unit = spec["datasets"]["rects"], WIDTH - 76, 70 / (max(map(abs, bars)) or 1)
    assert [rect["value"] for rect in rects] == bars
    assert [(rect["x"], rect["x2"]) for rect in rects] == [
        pytest.approx((zero + unit * min(0, value), zero + unit * max(0, value)), abs=0.01) for value in bars
    ]
    assert [numbers.decimal(value, 3) in texts(spec) for value in bars] == [True] * len(bars)


@pytest.mark.parametrize("together", [False, True])
def test_strip_has_cell_for_each_number(together):
    spec = strips(GROUPS, LIGHT, together=together, marked=(0, 1))
    wide, largest = WIDTH - 56 - LEFT, (2.0, 2.0 if together else 1.0)
    found = cells(spec)
    for own, most, row in ((found[:2], largest[0], SHORT), (found[2:6], largest[1], LONG), (found[6:], 1.0, [0.0] * 4)):
        assert [item["x"] for item in own] == pytest.approx([LEFT + at * wide / len(row) for at in range(len(row))])
        assert [item["width"] for item in own] == pytest.approx([wide / len(row)] * len(row))
        assert len({item["y"] for item in own}) == 1 and own[0]["height"] == pytest.approx(CELL)
        for item, value in zip(own, row, strict=True):
            assert same_color(item["fill"], on_ramp(LIGHT.signed, (value / most + 1) / 2))
    assert found[0]["y"] < found[2]["y"] < found[6]["y"]
    (outline,) = (item for item in drawn(spec, "rect") if item.get("strokeWidth") == 1.5)
    assert (outline["x"], outline["width"]) == pytest.approx((LEFT + wide / 2, wide / 2))
    assert {"a short one", "long ones", "A", "B", "2.24"} <= {*texts(spec)}
