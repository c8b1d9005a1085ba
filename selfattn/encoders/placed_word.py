"""Represent a text's tokens, and a word's place among them."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from selfattn.words import Word, character_spans, fold, run_of, spans_in_runs, token_words, with_run


@dataclass(frozen=True, kw_only=True, eq=False)
class Tokens:
    """The tokens of a text."""

    text: str
    pair: str | None  # the second segment
    tokens: tuple[str, ...]  # n word pieces
    ids: tuple[int, ...]  # n
    types: tuple[int, ...]  # n: segment ids
    special: tuple[bool, ...]  # n: True for [CLS], [SEP] and padding
    offsets: tuple[tuple[int, int], ...]  # n: (start, stop) in the segment
    segments: tuple[int | None, ...]  # n: 0 for text, 1 for pair, or None
    padding: int = 0  # padding tokens
    unknown: frozenset[int] = frozenset()  # positions
    reader: str = field(repr=False)  # identifies the tokeniser

    @cached_property
    def words(self) -> tuple[Word, ...]:
        words = []
        for segment, text in enumerate(self._texts if self.pair else self._texts[:1]):
            outside = [special or at != segment for special, at in zip(self.special, self.segments)]
            words += token_words(text, self.offsets, outside)
        words.sort(key=lambda word: word.start)
        if not self.unknown:
            return tuple(words)
        marks = ((self.tokens[p] for p in word.positions if p in self.unknown) for word in words)
        return tuple(replace(word, unknown=next(mark, "")) for word, mark in zip(words, marks))

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        """The texts of both segments, with spaces in place of special tokens."""
        texts = [self.text, self.pair or ""]
        for segment, special, (start, stop) in zip(self.segments, self.special, self.offsets):
            if special and segment is not None:
                texts[segment] = texts[segment][:start] + " " * (stop - start) + texts[segment][stop:]
        return tuple(texts)

    def places(self: "Sentence", *spellings: str) -> tuple["PlacedWord[Sentence]", ...]:
        """Return every occurrence of words with these spellings, in the order of the text.

        Spellings match if `fold` makes them equal. Occurrences with unknown tokens are left out.
        """
        return tuple(PlacedWord(self, place) for place in self._found(*spellings) if self.unknown.isdisjoint(place))

    def _found(self, *spellings: str) -> list[tuple[int, ...]]:
        """Return the token positions of each occurrence of the spellings."""
        wanted = {fold(spelling) for spelling in spellings} - {""}
        spans = [span for spelling in wanted for span in self._spelled.get(spelling, ())]
        for segment, text in enumerate(self._texts):
            spans += [(segment, *span) for span in spans_in_runs(text, wanted)]
        return sorted(place for place in {self._positions(*span) for span in spans} if place)

    @cached_property
    def _spelled(self) -> dict[str, list[tuple[int, int, int]]]:
        """Return each word's places in the texts, keyed by fold(word): (segment, start, stop) in characters."""
        found: dict[str, list[tuple[int, int, int]]] = {}
        for segment, (text, words) in enumerate(zip(self._texts, self.words_of)):
            for start, stop in {*character_spans(text), *(word.span for word in words)}:
                found.setdefault(fold(text[start:stop]), []).append((segment, start, stop))
        return found

    def _positions(self, segment: int, start: int, stop: int) -> tuple[int, ...]:
        """Return the token positions of the words that overlap the slice [start:stop] of the segment's text."""
        words = self.words_of[segment]
        first = bisect_right(words, start, key=lambda word: word.span[1])
        last = bisect_left(words, stop, key=lambda word: word.at)
        return tuple(range(words[first].start, words[last - 1].stop)) if first < last else ()

    @cached_property
    def words_of(self) -> list[list[Word]]:
        """The words of each segment."""
        return [[word for word in self.words if self.segments[word.start] == segment] for segment in (0, 1)]

    def read_as_unknown(self, *spellings: str) -> list[str]:
        """Return the parts of the text that the tokeniser doesn't know; with `spellings`, only parts of these words."""
        places = self._found(*spellings) if self.unknown else []
        return [
            self._texts[self.segments[position] or 0][slice(*self.offsets[position])].strip()
            for position in sorted(self.unknown)
            if not spellings or any(position in place for place in places)
        ]

    def why_unknown(self, *spellings: str) -> str:
        """Return a message about the first entry of `read_as_unknown(*spellings)`, or "" if that list is empty."""
        unknown = self.read_as_unknown(*spellings)
        if not unknown:
            return ""
        return (
            f"The tokeniser doesn't know {unknown[0][:80]!r} and reads it as {self.tokens[min(self.unknown)]}. Put spaces "
            "around the word, or change its spelling."
        )

    def padded(self, n: int, token: str, token_id: int) -> "Tokens":
        """Add padding tokens, so that there are n tokens in all."""
        fill = {"tokens": token, "ids": token_id, "types": 0, "special": True, "offsets": (0, 0), "segments": None}
        extra = n - len(self.ids)
        return replace(
            self, **{name: getattr(self, name) + (one,) * extra for name, one in fill.items()}, padding=extra
        )

    def cut(self, n: int) -> "Tokens":
        """Cut the text to n tokens, which include the special tokens at the end."""
        after = len(self.ids) - 1 - max(at for at, segment in enumerate(self.segments) if segment is not None)
        kept = [*range(n - after), *range(len(self.ids) - after, len(self.ids))]
        if len(kept) >= len(self.ids):
            return self
        names = ("tokens", "ids", "types", "special", "offsets", "segments")
        parts = {name: tuple(getattr(self, name)[at] for at in kept) for name in names}
        end = max(stop for (_, stop), segment in zip(parts["offsets"], parts["segments"]) if segment is not None)
        unknown = frozenset(at for at in self.unknown if at < n - after)
        return replace(self, **parts, text=self.text[:end], unknown=unknown)


Sentence = TypeVar("Sentence", bound=Tokens, covariant=True)


class PlacedWord(NamedTuple, Generic[Sentence]):
    """A word in its sentence. Functions also accept a plain tuple instead of a PlacedWord."""

    sentence: Sentence
    positions: tuple[int, ...]  # counted through both segments

    @property
    def word(self) -> Word:
        """The word as spelled in the sentence."""
        return run_of(self.sentence.words, self.positions)

    @property
    def words(self) -> tuple[Word, ...]:
        """The sentence's words, with the tokens at `positions` joined into one word."""
        return tuple(with_run(self.sentence.words, self.positions))

    @property
    def others(self) -> tuple[Word, ...]:
        """The words of the sentence, except this word."""
        return tuple(word for word in self.sentence.words if {*self.positions}.isdisjoint(word.positions))

    @property
    def rows(self) -> slice:
        """The positions as a slice."""
        return slice(self.positions[0], self.positions[-1] + 1)

    @property
    def number(self) -> int:
        """1 for the word's first occurrence in the sentence, 2 for the second, and so on."""
        return 1 + self.sentence.places(self.word.text).index(self)

    @property
    def key(self) -> tuple[str, str | None, tuple[int, ...]]:
        """The cache key for results about the word."""
        return self.sentence.text, self.sentence.pair, self.positions
