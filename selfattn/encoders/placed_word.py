"""A text as an encoder's tokeniser reads it, and a word where it stands in it."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from selfattn.words import Word, character_spans, token_words


@dataclass(frozen=True, kw_only=True, eq=False)
class Tokens:
    """A text as the tokeniser reads it, never cut. An `Encoding` is one, too, that has been run."""

    text: str
    pair: str | None  # the second segment, where one was given
    tokens: tuple[str, ...]  # n word pieces, special tokens included
    ids: tuple[int, ...]  # n
    types: tuple[int, ...]  # n: which segment, as the model is told
    special: tuple[bool, ...]  # n: True for [CLS], [SEP], padding ... as the tokeniser says, not from spelling
    offsets: tuple[tuple[int, int], ...]  # n: the first character of its segment, and the one after the last
    segments: tuple[int | None, ...]  # n: 0 for text, 1 for pair, None for special tokens
    padding: int = 0  # how many of the n, the last ones, only fill up
    unknown: frozenset[int] = frozenset()  # positions of text of which the model is told only that it is unknown
    reader: str = field(repr=False)  # whose reading this is: `Encoder.reader`

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """The words of both segments, in the order of their tokens."""
        words = []
        for segment, text in enumerate((self.text, self.pair or "")):
            words += token_words(text, self.offsets, [owner != segment for owner in self.segments])
        words.sort(key=lambda word: word.start)
        if not self.unknown:
            return tuple(words)
        marks = ((self.tokens[p] for p in word.positions if p in self.unknown) for word in words)
        return tuple(replace(word, unknown=next(mark, "")) for word, mark in zip(words, marks))

    def places(self: "Sentence", *spellings: str) -> tuple["PlacedWord[Sentence]", ...]:
        """Every place where one of these words stands, letter case aside, in order; not where the tokeniser doesn't know it."""
        wanted = {spelling.casefold() for spelling in spellings}
        known = (word for word in self.words if not word.unknown)
        return tuple(PlacedWord(self, word.positions) for word in known if word.text.casefold() in wanted)

    def read_as_unknown(self, *spellings: str) -> list[str]:
        """What the model is told only that it is unknown, in order; with spellings, where one of these words stands in it."""
        wanted, found = {spelling.casefold() for spelling in spellings}, []
        for position in sorted(self.unknown):
            text, (start, stop) = (self.pair if self.segments[position] else self.text) or "", self.offsets[position]
            within = (text[a:b] for a, b in character_spans(text) if a < stop and b > start)
            if not wanted or any(word.casefold() in wanted for word in within):
                found.append(text[start:stop].strip())
        return found

    def why_unknown(self, *spellings: str) -> str:
        """Why a place of one of these words can't be used: the tokeniser doesn't know it there. "" where it knows them all."""
        for read in self.read_as_unknown(*spellings):
            return (
                f"The tokeniser doesn't know {read[:80]!r}: it reads {self.tokens[min(self.unknown)]}, as for anything else that "
                "it doesn't know. Part the word from what is glued to it, or spell it otherwise."
            )
        return ""

    def padded(self, n: int, token: str, token_id: int) -> "Tokens":
        """The same followed by padding tokens, n in all."""
        padding = {"tokens": token, "ids": token_id, "types": 0, "special": True, "offsets": (0, 0), "segments": None}
        extra = n - len(self.ids)
        return replace(
            self, **{name: getattr(self, name) + (one,) * extra for name, one in padding.items()}, padding=extra
        )


Sentence = TypeVar("Sentence", bound=Tokens, covariant=True)


class PlacedWord(NamedTuple, Generic[Sentence]):
    """A word where it stands: the sentence as the encoder read it (an Encoding where it has been run), and its tokens.

    A plain tuple of both will do as well; so will any other tokens of the sentence where the word itself isn't asked for.
    """

    sentence: Sentence
    positions: tuple[int, ...]  # of the word's tokens, counted through both segments

    @property
    def word(self) -> Word:
        """The word as it is spelled here, with its span of tokens."""
        return next(word for word in self.sentence.words if word.positions == self.positions)

    @property
    def others(self) -> tuple[Word, ...]:
        """Every other word of the sentence, in order, repetitions of this one too."""
        own = {*self.positions}
        return tuple(word for word in self.sentence.words if own.isdisjoint(word.positions))

    @property
    def rows(self) -> slice:
        """The word's queries, as `Encoding.trace` and `Encoding.weights` take them."""
        return slice(self.positions[0], self.positions[-1] + 1)

    @property
    def number(self) -> int:
        """Which of the sentence's places with this word it is, from 1."""
        return 1 + self.sentence.places(self.word.text).index(self)

    @property
    def first_character(self) -> int:
        """The word's first character in its segment."""
        start, stop = self.sentence.offsets[self.positions[0]]
        text = (self.sentence.pair if self.sentence.segments[self.positions[0]] else self.sentence.text) or ""
        # Some tokenisers count the space before a word as the word's own.
        return start + len(text[start:stop]) - len(text[start:stop].lstrip())

    @property
    def key(self) -> tuple[str, str | None, tuple[int, ...]]:
        """What an encoder's results about it are kept by."""
        return self.sentence.text, self.sentence.pair, self.positions
