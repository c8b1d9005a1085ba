"""A term explains itself where it first stands, and everywhere with the same sentence."""

import ast
import re
from pathlib import Path

import pytest

from selfattn.captions.terms import TERMS

ROOT = Path(__file__).parents[2]
ROOMS = ("pages", "selfattn/dashboard", "selfattn/captions")
PAGES = [path for room in ROOMS for path in (ROOT / room).rglob("*.py") if path.name != "terms.py"]


@pytest.mark.parametrize("term", TERMS)
def test_a_sentence_explains_the_term_it_has_in_bold(term):
    assert re.findall(r"\*\*(.+?)\*\*", TERMS[term].lower()) == [term]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_page_explains_a_term_in_a_sentence_of_its_own(path):
    texts = [node.value for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Constant)]
    for text in filter(lambda value: isinstance(value, str), texts):
        bold = {each.lower().removesuffix("s") for each in re.findall(r"\*\*([^*]+)\*\*", text)}
        assert not bold & TERMS.keys(), text
        defined = re.search(rf"\b(an?|the) ({'|'.join(TERMS)}) (is (an?|the|what) |says |means )", text.lower())
        assert not defined, text
