"""Fixtures for the tests of charts."""

from typing import NamedTuple

import pytest
import torch

from selfattn.encoders.encoding import Encoding
from selfattn.words import Word

TEXTS = {"A": "The crane lifted a steel beam.", "B": "The crane spread its wings."}
LAYER, HEAD = 3, 7


class Side(NamedTuple):
    """A sentence, its word "crane", and one head's weights."""

    encoding: Encoding
    word: Word
    weights: torch.Tensor  # (n, n)


@pytest.fixture(scope="session")
def sides(encoder) -> dict[str, Side]:
    found = {}
    for name, text in TEXTS.items():
        encoding = encoder.encode(text)
        word = encoding.places("crane")[0].word
        found[name] = Side(encoding, word, encoder.reference_weights(text)[LAYER, HEAD])
    return found
