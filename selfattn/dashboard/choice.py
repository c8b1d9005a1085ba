"""Define a visitor's choice: a word in two sentences and, optionally, in a control."""

from collections.abc import Hashable
from dataclasses import dataclass

from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord


@dataclass(frozen=True)
class Pair:
    """The shared word in sentence A, in sentence B and, if there is one, in the control."""

    first: PlacedWord[Encoding]
    second: PlacedWord[Encoding]
    control: PlacedWord[Encoding] | None

    @property
    def word(self) -> str:
        """The word as A spells it."""
        return self.first.word.text

    @property
    def sides(self) -> tuple[tuple[str, PlacedWord[Encoding]], tuple[str, PlacedWord[Encoding]]]:
        """("A", first), ("B", second)."""
        return ("A", self.first), ("B", self.second)

    @property
    def all(self) -> tuple[PlacedWord[Encoding], ...]:
        """The word in A, B and, if there is one, the control."""
        return (self.first, self.second) if self.control is None else (self.first, self.second, self.control)

    @property
    def with_control(self) -> tuple[PlacedWord[Encoding], PlacedWord[Encoding], PlacedWord[Encoding] | None]:
        """The word in A, B and the control; None for no control."""
        return self.first, self.second, self.control

    @property
    def key(self) -> tuple[Hashable, ...]:
        """The cache key of results about it."""
        return tuple(word.key for word in self.all)
