"""Test that no page redefines a term of selfattn/lessons/terms.py."""

import ast
import re
from pathlib import Path

from selfattn.lessons.terms import TERMS

ROOT = Path(__file__).parents[2]
ROOMS = ("pages", "selfattn/dashboard")
PAGES = [path for room in ROOMS for path in (ROOT / room).rglob("*.py") if path.name != "terms.py"]


def test_no_page_redefines_term():
    assert [re.findall(r"\*\*(.+?)\*\*", sentence.lower()) for sentence in TERMS.values()] == [[term] for term in TERMS]
    for path in PAGES:
        nodes = (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Constant))
        for text in (node.value for node in nodes if isinstance(node.value, str)):
            bold = {each.lower().removesuffix("s") for each in re.findall(r"\*\*([^*]+)\*\*", text)}
            assert not bold & TERMS.keys(), (path, text)
            defined = rf"\b(an?|the) ({'|'.join(TERMS)}) (is (an?|the|what) |says |means )"
            assert not re.search(defined, text.lower()), (path, text)
