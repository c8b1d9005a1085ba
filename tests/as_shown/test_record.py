"""What counts as the same as what was kept, and what doesn't."""

import copy

import pandas as pd
import pytest

from tests.as_shown import record


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1.0, 1.0001, True), (1.0, 1.001, False), ([0.0, 100.0], [0.01, 100.0], True), ([0.0, 1.0], [0.01, 1.0], False),
        (3e-7, -2e-7, True), ("12 of 72", "13 of 72", False), ("0.31, 46 %", "0.32, 47 %", True), ("0.31", "0.33", False),
        ("by 0.0000004.", "by 0.000001.", True), ("by 7 × 10⁻¹⁶", "by 2 × 10⁻¹⁵", True), ("most in A", "most in B", False),
        ('0.0000002, at "a"', '0.0000004, at "b"', True), ('0.2, at "a"', '0.2, at "b"', False), ([1, 2], [1], False),
        (["12", 0.5], ["13", 0.5], False), ("+0.12", "−0.12", False), (1.0, "1", False),
    ],
)  # fmt: skip
def test_alike(one, other, same):
    assert record.alike(one, other) == record.alike(other, one) == same


def test_in_code_no_digit_is_the_last():
    assert record.alike("datum.x > 6.1008901", "datum.x > 6.1008919", code=True)
    assert not record.alike("datum.x - 0.16", "datum.x - 0.17", code=True)


def test_a_column_tells_each_of_its_values_and_their_order():
    values = [0.1 * i for i in range(50)]
    kept = record.column(values)
    for place in (0, 17, 49):
        assert not record.alike(kept, record.column([*values[:place], values[place] + 0.1, *values[place + 1 :]]))
    assert not record.alike(kept, record.column([values[1], values[0], *values[2:]]))
    assert not record.alike(kept, record.column([float("nan"), *values[1:]]))
    texts = [f"word {i}" for i in range(9)]
    assert not record.alike(record.column(texts), record.column([*texts[:4], "ward 4", *texts[5:]]))


def test_what_was_kept_is_read_as_it_was_and_each_change_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "FOLDER", tmp_path)
    rows = [{"x": i, "y": i / 3, "of a": "A"} for i in range(9)]
    layer = {
        "mark": {"type": "bar"},
        "encoding": {"x": {"field": "x", "type": "quantitative", "scale": {"domain": [0, 8]}}},
    }
    spec = {
        "datasets": {"data": rows},
        "layer": [layer, copy.deepcopy(layer) | {"mark": {"type": "rule"}}],
        "width": 90,
    }
    first = record.figure("bars", "most: 8", pd.DataFrame(rows), spec)
    other = {**spec, "width": 120, "layer": [layer]}
    views = {
        "default": {"figure 1": first, "says": {"0": "8 of 9"}},
        "own": {"figure 1": record.figure("bars", "most: 7", pd.DataFrame(rows), other), "says": {}},
    }
    record.write("page", views)
    assert "like" in (tmp_path / "page.json").read_text()
    assert record.differences("page", views) == []
    changed = copy.deepcopy(views)
    changed["own"]["figure 1"]["chart"]["layer"][0]["mark"]["type"] = "area"
    changed["default"]["says"]["1"] = "new"
    told = record.differences("page", changed)
    assert sorted(line.splitlines()[0] for line in told) == [
        "default / says / 1", "own / figure 1 / chart.layer.0.mark.type",
    ]  # fmt: skip
    assert "was bar\n  is  area" in "".join(told)
    assert record.differences("page", {"own": views["own"]}) == ["default: no such view now"]


def test_rows_of_numbers_in_a_text_are_compared_as_numbers():
    """A chart's numbers that travel as text: another processor moves their last digit."""
    rows, near, far = (record.chart({"value": [f"100000,{value},,3"]})["value"] for value in (97167, 97170, 97600))
    assert record.alike(rows, near) and not record.alike(rows, far)
    assert not record.alike(rows, record.chart({"value": ["100000,97167,3"]})["value"])
    assert isinstance(record.chart({"value": "no, row"})["value"], str)
