"""Strips of vectors and a product written out: what is painted, and where."""

import pandas as pd
import pytest

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


@pytest.mark.parametrize("together", [False, True])
def test_a_strip_has_a_cell_a_number(together):
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


def test_a_product_is_a_line_a_term():
    terms = pd.DataFrame({"dimension": [7, 2], "first": [2.0, -0.5], "second": [0.25, 1.5], "product": [0.5, -0.75]})
    spec = product(terms, 0.125, -0.125, ("input", "W_Q", "the other 9 together", "their sum"), LIGHT)
    written = texts(spec)
    for text in (
        "7",
        "2.0000",
        "0.2500",
        "0.500",
        "−0.750",
        "the other 9 together",
        "0.125",
        "bias",
        "−0.125",
        "−0.250",
    ):
        assert text in written
    bars = drawn(spec, "rect")
    assert [item["width"] for item in bars] == pytest.approx(
        [70 * part / 0.75 for part in (0.5, 0.75, 0.125, 0.125, 0.25)], abs=0.01
    )
    zero = bars[0]["x"]
    assert [round(item["x"] + item["width"] - zero, 2) > 0 for item in bars] == [True, False, True, False, False]
    assert [same_color(item["fill"], LIGHT.signed[-1]) for item in bars] == [True, False, True, False, False]
    assert "bias" not in texts(product(terms, 0.125, None, ("input", "W_Q", "others", "sum"), LIGHT))
