"""A word in an encoded sentence: where it stands, and what falls on it."""

from torch import Tensor

from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.words import Word


def first_word(encoding: Encoding, text: str, after: int = 0) -> PlacedWord[Encoding]:
    """The first word spelled `text` (letter case aside) from token `after` on; ValueError where there is none."""
    for placed in encoding.places(text):
        if placed.positions[0] >= after:
            return placed
    raise ValueError(
        encoding.why_unknown(text) or f"Expected the word {text!r} in {encoding.text!r}. Check its spelling."
    )


def weight_on(rows: Tensor, word: PlacedWord | Word) -> Tensor:
    """(..., n) -> (...): the weight that falls on the word, summed over the pieces of a split one."""
    return rows[..., list(word.positions)].sum(-1)
