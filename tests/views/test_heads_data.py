"""Test the data of a map of all heads."""

import math

import pandas as pd
import pytest

from selfattn import Head
from selfattn.panel import Live
from selfattn.views.heads_data import heads_data, plain_heads


def frame_of(values, name="effect", **more):
    places = [(layer, head) for layer in range(2) for head in range(len(values) // 2)]
    frame = pd.DataFrame(places, columns=["layer", "head"]).assign(**{name: values}, **more)
    return frame.assign(name=[str(Head(*place)) for place in places])


@pytest.mark.parametrize(
    ("values", "measure", "looks", "depths", "expected", "ends"),
    [
        ([0.01, -0.05, 0.0, math.nan], "effect", {}, "20,-100,0,", ["+0.010", "−0.050", "0.000", ""], ("−0.050", "+0.050")),
        ([0.002, 0.001, 0, 0], "adds", {}, "100,50,0,0", ["+0.0020", "+0.0010", "0.0000", "0.0000"], ("−0.0020", "+0.0020")),
        ([0.02, -0.001, 0, 0], "share", {}, "100,-5,0,0", ["+2.0\u00a0%", "−0.1\u00a0%"], ("−2.0\u00a0%", "+2.0\u00a0%")),
        ([3.15, 0.5, 0, 1], "entropy", {"kind": "weights", "unit": "bits"}, "100,16,0,32", ["3.15 bits"], ("0", "3.15 bits")),
    ],
)  # fmt: skip
def test_heads_data_holds_formatted_and_scaled_numbers(values, measure, looks, depths, expected, ends):
    data = heads_data(frame_of(values, measure), measure, Head(1, 0), title="change", **looks)
    assert Live("heads", data).data["depths"] == depths and data["said"][: len(expected)] == expected
    assert data["scale"] == {"low": ends[0], "high": ends[1], "about": "change"}
    assert (data["layers"], data["heads"], data["chosen"]) == (2, 2, 2)


def test_heads_data_sorts_by_layer_and_head():
    frame = frame_of([1.0, 2.0, 3.0, 4.0], how=["exact", "by gradient", "exact", "exact"])[::-1]
    data = heads_data(frame, "effect", "L5 H0", title=["one", "two"])
    assert data["depths"] == "25,50,75,100" and data["chosen"] == -1
    assert data["said"][1] == "+2.000 (by gradient)" and data["scale"]["about"] == "one, two"


def test_map_without_numbers_marks_chosen_head():
    assert Live("heads", plain_heads(24, 16, Head(2, 3), "Head")).data["chosen"] == 35
