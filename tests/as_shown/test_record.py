"""What counts as the same as what was kept, and what doesn't."""

import copy

import pandas as pd
import pytest

from tests.as_shown import record


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("0 ¦ 100.0", "0.01 ¦ 100", True), ("0 ¦ 1.0", "0.01 ¦ 1", False), ("1 ¦ 2", "1", False),
        ("n12 ¦ 0.5", "n13 ¦ 0.5", False), ("12 of 72", "13 of 72", False), ("0.31, 46 %", "0.32, 47 %", True),
        ("0.31", "0.33", False), ("+0.12", "−0.12", False), ("3e-7", "-2e-7", True), ("by 0.0000004.", "by 0.000001.", True),
        ("by 7 × 10⁻¹⁶", "by 2 × 10⁻¹⁵", True), ("most in A", "most in B", False),
        ('0.0000002, at "a"', '0.0000004, at "b"', True), ('0.2, at "a"', '0.2, at "b"', False),
    ],
)  # fmt: skip
def test_alike(one, other, same):
    assert record.alike(one, other) == record.alike(other, one) == same


def test_in_code_no_digit_is_the_last():
    assert record.alike("datum.x > 6.1008901", "datum.x > 6.1008919", code=True)
    assert not record.alike("datum.x - 0.16", "datum.x - 0.17", code=True)


def same(one, other):
    """Whether two columns are alike as they are kept."""
    return record.alike(*(record.flat(record.column(values), "x")["x"] for values in (one, other)))


def test_a_column_tells_each_of_its_values_and_their_order():
    values = [0.1 * i for i in range(50)]
    for place in (0, 17, 49):
        assert not same(values, [*values[:place], values[place] + 0.1, *values[place + 1 :]])
    assert not same(values, [values[1], values[0], *values[2:]]) and not same(values, [float("nan"), *values[1:]])
    texts = [f"word {i}" for i in range(9)]
    assert not same(texts, [*texts[:4], "ward 4", *texts[5:]])
    # Rows of numbers that travel as text: another processor moves their last digit.
    assert same(["100000,97167,,3"], ["100000,97170,,3"]) and not same(["100000,97167,,3"], ["100000,97600,,3"])
    assert not same(["100000,97167,,3"], ["100000,97167,3"])


def test_what_was_kept_is_read_as_it_was_and_each_change_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "FOLDER", tmp_path)
    rows = pd.DataFrame({"x": range(9), "y": 1 / 3})
    layer = {
        "mark": {"type": "bar"},
        "encoding": {"x": {"field": "x", "type": "quantitative", "scale": {"domain": [0, 8]}}},
    }
    spec = {
        "datasets": {"data": rows.to_dict("records")},
        "layer": [layer, layer | {"mark": {"type": "rule"}}],
        "width": 90,
    }
    first, other = (
        record.figure("bars", "most: 8", rows, each) for each in (spec, spec | {"width": 120, "layer": [layer]})
    )
    views = {"default": {"figure 1": first, "says": {"0": "8 of 9"}}, "own": {"figure 1": other, "says": {}}}
    record.write("page", views)
    assert (tmp_path / "page.json").read_text().count("i:Q") < 2 and record.differences("page", views) == []
    changed = copy.deepcopy(views)
    changed["own"]["figure 1"]["chart"]["layer"][0]["mark"]["type"] = "area"
    changed["default"]["says"]["1"] = "new"
    own, default = sorted(record.differences("page", changed), reverse=True)
    assert own == "own / figure 1 / chart.layer.0.mark.type\n  was bar\n  is  area"
    assert default.startswith("default / says / 1\n")
    assert record.differences("page", {"own": views["own"]}) == ["default: no such view now"]
