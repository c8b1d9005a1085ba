"""Bad numbers get a message that names what was expected, what came, and the remedy."""

import math

import pytest
import torch

from pages.learn.from_scratch.lesson_pages import dot_product
from selfattn.lessons import recurrence, tiny_model, twelve_tokens, typed_numbers, worked_example


@pytest.mark.parametrize(("text", "expected"), [("3, 1", [3, 1]), ("[3 1]", [3, 1]), ("-1.5;2e1", [-1.5, 20])])
def test_numbers_are_read_as_people_type_them(text, expected):
    assert typed_numbers.parse("Query", text) == expected


@pytest.mark.parametrize("text", ["three", "3, x", "3..1"])
def test_letters_are_refused(text):
    with pytest.raises(ValueError, match=r"Query: expected numbers such as 3, 1; got .*Type digits"):
        typed_numbers.parse("Query", text)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e9])
@pytest.mark.parametrize(
    "run",
    [
        lambda bad: worked_example.compute(query=(bad, 1)),
        lambda bad: worked_example.compute(keys=((3, 1), (1, bad), (1, 1))),
        lambda bad: worked_example.compute(values=((3, 1), (1, bad), (1, 1))),
        lambda bad: twelve_tokens.compute({3: (bad, 1)}),
        lambda bad: recurrence.signal(("a", "b"), 1, 2, gain=bad),
        lambda bad: tiny_model.Settings(epochs=bad),
    ],
)
def test_nan_infinite_and_huge_numbers_are_refused(run, bad):
    with pytest.raises(ValueError, match="expected"):
        run(bad)


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda: worked_example.compute(query=()), "expected 2 numbers, got 0"),
        (lambda: worked_example.compute(query=(1, 2, 3)), "expected 2 numbers, got 3"),
        (lambda: worked_example.compute(keys=()), "at least one vector"),
        (lambda: worked_example.compute(values=((1, 2),)), "3 keys and 1 values"),
        (lambda: dot_product.cosine(torch.zeros(2), torch.ones(2)), "zero vector"),
        (lambda: recurrence.steps_between(2, 2), "two different words"),
        (lambda: recurrence.signal(("a", "b", "c"), 3, 1), "Choose others"),
        (lambda: recurrence.signal(("a", "b", "c"), 1, 4), "Choose others"),
        (lambda: recurrence.words_of("alone"), "2 to 60 words, got 1"),
        (lambda: recurrence.words_of("word " * 61), "2 to 60 words, got 61"),
        (lambda: tiny_model.sentence([1, 2, 3, 4, 5]), "expected 6 numbers, got 5"),
        (lambda: tiny_model.sentence([1, 2, 3, 4, 5, 51]), "whole numbers from 1 to 50"),
        (lambda: tiny_model.sentence([1, 2, 3, 4, 5, 1.5]), "whole numbers from 1 to 50"),
    ],
)
def test_what_does_not_fit_is_named(run, message):
    with pytest.raises(ValueError, match=message):
        run()
