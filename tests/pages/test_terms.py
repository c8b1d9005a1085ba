"""A term explains itself where it first stands, and everywhere with the same sentence."""

import ast
import re
from pathlib import Path

import pytest

from pages.learn.from_scratch.lesson_pages import FIRST, STOPS
from selfattn.captions.terms import TERMS

ROOT = Path(__file__).parents[2]
ROOMS = ("pages", "selfattn/dashboard", "selfattn/captions")
PAGES = [path for room in ROOMS for path in (ROOT / room).rglob("*.py") if path.name != "terms.py"]


def said(slug):
    stop = STOPS[slug]
    return re.sub(
        r"[*_]", "", " ".join((stop.TITLE, stop.IDEA, stop.QUESTION, stop.REASON, stop.TAKE, *stop.OPTIONS))
    ).lower()


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


def test_each_term_is_explained_once_on_the_path_and_not_after_its_first_use():
    explained = [term for slug in STOPS for term in FIRST.get(slug, ())]
    assert sorted(explained) == sorted(TERMS)
    known = set()
    for slug in STOPS:
        known |= set(FIRST.get(slug, ()))
        used = {term for term in TERMS if re.search(rf"\b{term}s?\b", said(slug))}
        assert used <= known, (slug, used - known)
