"""Test that docs/support.md gives the measured outcome of each model type."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
support = runpy.run_path(str(ROOT / "docs/support.py"))

SAMPLE = ("gemma3_text, both ways", "gpt2", "xlnet")


def written():
    text = (ROOT / "docs" / "support.md").read_text("utf-8").split(support["FAMILIES"])[0]
    lists = re.findall(r'^- \d+ types: ".*"\n((?:  .*\n)+)', text, re.M)
    by_name = {name: "refused" for each in lists for name in " ".join(each.split()).removesuffix(".").split(", ")}
    return dict(re.findall(r"^\| ([^|]+) \| (\w+) \|", text, re.M)[1:]) | by_name


def test_every_model_type_has_outcome():
    table = written()
    assert sorted(table) == support["model_types"](), "run python docs/support.py"
    assert set(table.values()) == {"right", "shown", "refused"}


@pytest.mark.parametrize("types", [SAMPLE, pytest.param(None, marks=pytest.mark.long)])
@pytest.mark.timeout(7200)
@pytest.mark.slow
def test_support_table_matches_measured_outcomes(types):
    types = types or support["model_types"]()
    outcomes = {row["type"]: row["outcome"] for row in support["walk"](types)}
    assert outcomes == {name: written()[name] for name in types}, "run python docs/support.py"
