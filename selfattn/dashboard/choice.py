"""Define `Pair`, a word in sentences A and B and perhaps in a control sentence."""

from collections.abc import Hashable
from typing import NamedTuple

from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord


class Pair(NamedTuple):
    """A word in sentence A, in sentence B and perhaps in a control sentence."""

    first: PlacedWord[Encoding]
    second: PlacedWord[Encoding]
    control: PlacedWord[Encoding] | None

    @property
    def word(self) -> str:
        """The word as sentence A spells it."""
        return self.first.word.text

    @property
    def sides(self) -> tuple[tuple[str, PlacedWord[Encoding]], tuple[str, PlacedWord[Encoding]]]:
        """(name, word) for sentence A and for sentence B."""
        return ("A", self.first), ("B", self.second)

    @property
    def key(self) -> tuple[Hashable, ...]:
        """The cache key for results about this pair."""
        return tuple(word.key for word in self if word)
