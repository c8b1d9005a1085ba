"""docs/support.md says what really comes of each model type: right, shown or refused, and nothing else."""

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

ROOT = Path(__file__).parents[1]
support = runpy.run_path(str(ROOT / "docs/support.py"))

SAMPLE = ("gemma3_text, both ways", "gpt2", "xlnet")


def walk(types):
    """What docs/support.py says of these types when it is run, each in a child with 20 seconds."""
    done = subprocess.run(
        [sys.executable, "docs/support.py", "--json", *types],
        cwd=ROOT, capture_output=True, text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    return {row["type"]: row["outcome"] for row in map(json.loads, done.stdout.splitlines())}


def written():
    text = (ROOT / "docs" / "support.md").read_text("utf-8").split(support["FAMILIES"])[0]
    return dict(re.findall(r"^\| ([^|]+) \| (\w+) \|", text, re.M)[1:])


def test_every_model_type_stands_in_the_table_with_an_outcome():
    table = written()
    assert sorted(table) == support["model_types"](), "run python docs/support.py"
    assert set(table.values()) == {"right", "shown", "refused"}


def test_every_type_that_opens_stands_beside_its_errors():
    text = (ROOT / "docs" / "support.md").read_text("utf-8").split(support["FAMILIES"])[0]
    rows = re.findall(r"^\| ([^|]+) \| (right|shown) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|", text, re.M)
    assert len(rows) > 40
    for name, outcome, weights, contexts, last in rows:
        large = 10 if name == "embedding_gemma2_text" else 1  # its scores are
        assert 0 <= float(weights) <= 1e-5 * large, name
        assert 0 <= float(last) <= 1e-4, name
        assert float(contexts) <= 1e-5 * large if outcome == "right" else contexts.strip() == "", name


@pytest.mark.slow
def test_some_types_are_what_the_table_says():
    outcomes = {row["type"]: row["outcome"] for row in support["walk"](SAMPLE)}
    assert set(outcomes.values()) == {"right", "shown", "refused"}
    table = written()
    assert outcomes == {name: table[name] for name in SAMPLE}, "run python docs/support.py"


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_every_type_is_what_the_table_says():
    assert walk(support["model_types"]()) == written()


@pytest.mark.parametrize("how", ["hung", "died", "error"])
@pytest.mark.slow
def test_a_type_that_hangs_dies_or_raises_is_named(monkeypatch, tmp_path, how):
    """The walk's own check: a child that doesn't answer is no outcome that passes."""
    ends = {"hung": lambda: sleep(60), "died": lambda: os._exit(3), "error": lambda: 1 / 0}
    in_a_child = support["in_a_child"]
    monkeypatch.setitem(in_a_child.__globals__, "SECONDS", 1)
    monkeypatch.setitem(in_a_child.__globals__, "save", lambda name, folder: None)
    monkeypatch.setitem(in_a_child.__globals__, "tried", lambda folder: ends[how]())
    assert in_a_child("bert", tmp_path)["outcome"] == how
