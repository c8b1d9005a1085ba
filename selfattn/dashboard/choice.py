"""What a visitor has chosen to see: an encoder, a word in two sentences, and one head."""

from dataclasses import dataclass

import streamlit as st

from selfattn.dashboard.cache import Place
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.examples import PAIRS
from selfattn.words import Word


@dataclass(frozen=True)
class Occurrence:
    """A word where it stands in an encoded sentence."""

    encoding: Encoding
    word: Word

    @property
    def positions(self) -> tuple[int, ...]:
        """The word's token positions."""
        return self.word.positions

    @property
    def place(self) -> Place:
        """What results are kept by: the text and the positions."""
        return self.encoding.text, self.positions


@dataclass(frozen=True)
class Pair:
    """The shared word in sentence A, in sentence B and, where the control sentence has it, in the control."""

    first: Occurrence
    second: Occurrence
    control: Occurrence | None

    @property
    def word(self) -> str:
        """The word as it is spelled in A."""
        return self.first.word.text

    @property
    def sides(self) -> tuple[tuple[str, Occurrence], tuple[str, Occurrence]]:
        """("A", first), ("B", second)."""
        return ("A", self.first), ("B", self.second)

    @property
    def places(self) -> tuple[Place, Place, Place | None]:
        """Where the word stands in A, B and the control."""
        return self.first.place, self.second.place, None if self.control is None else self.control.place

    @property
    def sense(self) -> str:
        """A's and the control's where they are an example's, else "": nobody has said it."""
        texts = tuple(None if side is None else side.encoding.text for side in (self.first, self.control))
        return next((known.senses[0] for known in PAIRS if (known.first, known.control) == texts), "")

    @property
    def same_position(self) -> bool:
        """Whether the word stands at the same positions in both sentences."""
        return self.first.positions == self.second.positions


@dataclass(frozen=True)
class Choice:
    """One head of one encoder, for a word in two sentences: what every part of a page is told."""

    encoder: Encoder
    pair: Pair
    head: Head


def choose_head(head: Head) -> None:
    """Make this the chosen head: for the callbacks of charts and buttons."""
    st.session_state.head = str(head)
