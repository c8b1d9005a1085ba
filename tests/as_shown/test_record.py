"""Test how pages are summarised, and compared with stored summaries (records)."""

import copy

import pandas as pd
import pytest

from tests.as_shown import record


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("x = 0 100.0", "x = 0.01 100", True), ("x = 0 1.0", "x = 0.01 1", False), ("x = 1 2", "x = 1", False),
        ("x = n12 0.5 to 1", "x = n13 0.5 to 1", False), ("12 of 72", "13 of 72", False), ("0.31, 46 %", "0.32, 47 %", True),
        ("0.31", "0.33", False), ("+0.12", "−0.12", False), ("3e-7", "-2e-7", True), ("by 0.0000004.", "by 0.000001.", True),
        ("by 7 × 10⁻¹⁶", "by 2 × 10⁻¹⁵", True), ("most in A", "most in B", False), ("12 rows", "13 rows", False),
        ('0.0000002, at "a"', '0.0000004, at "b"', True), ('0.2, at "a"', '0.2, at "b"', False),
        ('Head 7: 0.0000002, at "a"', 'Head 7: 0.0000004, at "b"', True), ('Head 7, "a"', 'Head 7, "b"', False),
        ('Head 7: 0.0000002, at "a"', 'Head 8: 0.0000002, at "b"', False),
    ],
)  # fmt: skip
def test_alike_allows_rounding_errors(one, other, same):
    assert record.alike(one, other) == record.alike(other, one) == same


def same(one, other):
    return record.changed(record.column("x", one), record.column("x", other)) == ("", "")


def test_column_summary_depends_on_order_of_values():
    values = [0.1 * i for i in range(50)]
    for place in (0, 17, 49):
        assert not same(values, [*values[:place], values[place] + 0.1, *values[place + 1 :]])
    assert not same(values, [values[1], values[0], *values[2:]]) and not same(values, [float("nan"), *values[1:]])
    assert not same([1.0] * 9, [1.0] * 8 + [1.1])
    texts = [f"word {i}" for i in range(9)]
    assert not same(texts, [*texts[:4], "ward 4", *texts[5:]]) and not same(texts, [*texts[:4], "word 40", *texts[5:]])
    # Processors round differently, so numbers may differ slightly.
    assert same(["100000,97167,,3"], ["100000,97170,,3"]) and not same(["100000,97167,,3"], ["100000,97600,,3"])
    assert not same(["100000,97167,,3"], ["100000,97167,3"])


def test_differences_from_stored_summary_are_listed(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "FOLDER", tmp_path)
    rows = pd.DataFrame({"x": range(9), "y": 1 / 3})
    layer = {"mark": {"type": "bar"}, "encoding": {"x": {"field": "x", "scale": {"domain": [0, 8]}}}}
    spec = {
        "datasets": {"data": rows.to_dict("records")},
        "layer": [layer, layer | {"mark": "rule", "transform": [{"calculate": "datum.x - 0.16"}]}],
        "width": 90, "title": "Bars", "name": "5,,7",
    }  # fmt: skip
    first, other = (
        record.figure("bars", "most: 8", rows, each) for each in (spec, spec | {"width": 120, "layer": [layer]})
    )
    assert first == {
        "name": "bars", "caption": "most: 8", "draws": "bar x=x; rule x=x ¦ Bars",
        "numbers": "layout = 0 8 0 8 90 ¦ packed = 5 7 ¦ in 20 letters of code = 0.16",
        "data data": "9 rows ¦ x = n9 0 to 8 mean 4 order 2.231 ¦ y = n9 all 0.33333",
        "table": "9 rows ¦ x = n9 0 to 8 mean 4 order 2.231 ¦ y = n9 all 0.33333",
    }  # fmt: skip
    says = record.texts(["8 of 9", "8 of 10"])
    views = {"default": {"figure 1": first, "says": says}, "own": {"figure 1": other, "says": {}}}
    record.write("page", views)
    assert (tmp_path / "page.json").read_text().count("data data") == 1 and record.differences("page", views) == []
    changed = copy.deepcopy(views)
    changed["own"]["figure 1"]["numbers"] = other["numbers"].replace("120", "119")
    changed["default"]["says"]["new"] = "a text"
    default, own = sorted(record.differences("page", changed))
    assert own.startswith("own / figure 1 (bars) / numbers\n  was layout = 0 8 120")
    assert default == "default / says / new\n  was None\n  is  a text"
    assert record.differences("page", {"own": views["own"]}) == ["default: no such view now"]
