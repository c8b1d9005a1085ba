"""Test how typed numbers are read and refused."""

import pytest
import torch

from selfattn.lessons import tiny_model, typed_numbers


@pytest.mark.parametrize(("text", "expected"), [("3, 1", [3, 1]), ("[3 1]", [3, 1]), ("-1.5;2e1", [-1.5, 20])])
def test_typed_numbers_are_parsed(text, expected):
    found = typed_numbers.parse("Query", text, 2)
    assert found.tolist() == expected and found.dtype == torch.float64


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("three", r"Query: expected numbers, got 'three'. Type numbers"),
        ("3..1", "Type numbers"),
        ("", "expected 2 numbers, got 0"),
        ("1, 2, 3", "expected 2 numbers, got 3. Separate"),
        ("nan, 1", "expected numbers from -10,000 to 10,000, got nan. Choose"),
        ("1, -inf", "got -inf"),
        ("1, 10001", "got 10001"),
    ],
)
def test_unusable_numbers_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        typed_numbers.parse("Query", text, 2)


@pytest.mark.parametrize("text", ["1, 2, 3, 4, 5, 51", "0, 2, 3, 4, 5, 6", "1, 2, 3, 4, 5, 1.5"])
def test_tiny_model_reads_whole_numbers_1_to_50(text):
    assert tiny_model.sentence("1, 2, 3, 4, 5, 50").tolist() == [[0, 1, 2, 3, 4, 5, 50]]
    with pytest.raises(ValueError, match="whole numbers from 1 to 50"):
        tiny_model.sentence(text)
