"""Find a word in a sentence, and sum the attention weights on the word's tokens."""

from torch import Tensor

from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.words import Word


def first_word(encoding: Encoding, text: str, after: int = 0) -> PlacedWord[Encoding]:
    """Find a word's first occurrence, in any letter case, from token `after` on. Raises ValueError if there is none."""
    for placed in encoding.places(text):
        if placed.positions[0] >= after:
            return placed
    raise ValueError(
        encoding.why_unknown(text)
        or f"The sentence {encoding.text!r} doesn't contain the word {text!r}. Check the spelling."
    )


def weight_on(rows: Tensor, word: PlacedWord | Word) -> Tensor:
    """Sum the weights over the word's tokens: (..., n) -> (...)."""
    return rows[..., list(word.positions)].sum(-1)
