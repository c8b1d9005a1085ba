"""Each caption says of its cases what said.json keeps, letter by letter."""

import json
from pathlib import Path

import pytest

from tests.captions.cases import CASES

FILE = Path(__file__).with_name("said.json")
EVERY = [(room, name) for room, cases in CASES.items() for name in cases]


def said(case):
    """Lines and sentences of their own as a list."""
    text = case()
    lines = text.split("\n") if isinstance(text, str) else list(text)
    return text if lines == [text] else lines


@pytest.mark.parametrize(("room", "name"), [pytest.param(*each, id=": ".join(each)) for each in EVERY])
def test_is_said_as_it_is_kept(room, name):
    kept = json.loads(FILE.read_text("utf-8"))
    assert said(CASES[room][name]) == kept[room].get(name), (
        "if this is meant: python -m tests.captions, and read its git diff"
    )


def test_nothing_is_kept_that_no_case_asks_for():
    kept = json.loads(FILE.read_text("utf-8"))
    assert [(room, name) for room, texts in kept.items() for name in texts] == EVERY
