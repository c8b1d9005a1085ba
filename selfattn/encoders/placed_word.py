"""Define `Tokens`, the tokens of a text, and `PlacedWord`, the place of a word among them."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from selfattn.words import Word, character_spans, fold, run_of, spans_in_runs, token_words, with_run


@dataclass(frozen=True, kw_only=True, eq=False)
class Tokens:
    """All tokens of a text. The subclass `Encoding` adds the results of a pass."""

    text: str
    pair: str | None  # the second segment
    tokens: tuple[str, ...]  # n word pieces, special tokens included
    ids: tuple[int, ...]  # n
    types: tuple[int, ...]  # n: segment ids for the model
    special: tuple[bool, ...]  # n: True for [CLS], [SEP], padding ..., and for special tokens typed in the text
    offsets: tuple[tuple[int, int], ...]  # n: the token's characters in its segment, (start, stop)
    segments: tuple[int | None, ...]  # n: 0 for text, 1 for pair, None for special tokens outside both
    padding: int = 0  # number of padding tokens at the end
    unknown: frozenset[int] = frozenset()  # positions of unknown tokens
    reader: str = field(repr=False)  # `Encoder.reader`, which identifies the tokeniser

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """The words of both segments, in the order of their tokens."""
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
        """The texts of both segments. Blanks replace special tokens that the user typed, so that no word includes them."""
        texts = [self.text, self.pair or ""]
        for segment, special, (start, stop) in zip(self.segments, self.special, self.offsets):
            if special and segment is not None:
                texts[segment] = texts[segment][:start] + " " * (stop - start) + texts[segment][stop:]
        return tuple(texts)

    def places(self: "Sentence", *spellings: str) -> tuple["PlacedWord[Sentence]", ...]:
        """Return every occurrence of any of these words, in order. Occurrences with unknown tokens are left out.

        `fold` decides whether two spellings match. If one token covers a word and a sign, such as "/river", a search for either
        finds both together. In a script without spaces, an occurrence is the run of tokens that spells the word.
        """
        return tuple(PlacedWord(self, place) for place in self._found(*spellings) if self.unknown.isdisjoint(place))

    def _found(self, *spellings: str) -> list[tuple[int, ...]]:
        """Return the token positions of each occurrence of these spellings, in order, including those with unknown tokens."""
        wanted = {fold(spelling) for spelling in spellings} - {""}
        spans = [span for spelling in wanted for span in self._spelled.get(spelling, ())]
        for segment, text in enumerate(self._texts):
            spans += [(segment, *span) for span in spans_in_runs(text, wanted)]
        return sorted(place for place in {self._positions(*span) for span in spans} if place)

    @cached_property
    def _spelled(self) -> dict[str, list[tuple[int, int, int]]]:
        """The places of each word and each part of a word, keyed by its folded spelling: (segment, start, stop) in characters."""
        found: dict[str, list[tuple[int, int, int]]] = {}
        for segment, (text, words) in enumerate(zip(self._texts, self.words_of)):
            for start, stop in {*character_spans(text), *(word.span for word in words)}:
                found.setdefault(fold(text[start:stop]), []).append((segment, start, stop))
        return found

    def _positions(self, segment: int, start: int, stop: int) -> tuple[int, ...]:
        """Return the positions of the words that overlap these characters."""
        words = self.words_of[segment]
        first = bisect_right(words, start, key=lambda word: word.span[1])
        last = bisect_left(words, stop, key=lambda word: word.at)
        return tuple(range(words[first].start, words[last - 1].stop)) if first < last else ()

    @cached_property
    def words_of(self) -> list[list[Word]]:
        """The words of each segment."""
        return [[word for word in self.words if self.segments[word.start] == segment] for segment in (0, 1)]

    def read_as_unknown(self, *spellings: str) -> list[str]:
        """Return the parts of the text that the tokeniser doesn't know, in order. spellings: search only these words."""
        places = self._found(*spellings) if self.unknown else []
        return [
            self._texts[self.segments[position] or 0][slice(*self.offsets[position])].strip()
            for position in sorted(self.unknown)
            if not spellings or any(position in place for place in places)
        ]

    def why_unknown(self, *spellings: str) -> str:
        """Return a message for a visitor if the tokeniser doesn't know one of these words, or ""."""
        unknown = self.read_as_unknown(*spellings)
        if not unknown:
            return ""
        return (
            f"The tokeniser doesn't know {unknown[0][:80]!r} and reads it as {self.tokens[min(self.unknown)]}. Put spaces "
            "around the word, or change its spelling."
        )

    def padded(self, n: int, token: str, token_id: int) -> "Tokens":
        """Return these tokens followed by padding tokens, n tokens in all."""
        fill = {"tokens": token, "ids": token_id, "types": 0, "special": True, "offsets": (0, 0), "segments": None}
        extra = n - len(self.ids)
        return replace(
            self, **{name: getattr(self, name) + (one,) * extra for name, one in fill.items()}, padding=extra
        )

    def cut(self, n: int) -> "Tokens":
        """Return at most n tokens: the first tokens of the text, and the special tokens at its end. `text` is cut too."""
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
    """A word in its sentence: the sentence's Tokens or Encoding, and the positions of the word's tokens.

    The positions may belong to any tokens of the sentence. Functions also accept a plain tuple (`TextReader.placed`).
    """

    sentence: Sentence
    positions: tuple[int, ...]  # of the word's tokens, counted through both segments

    @property
    def word(self) -> Word:
        """The word as the sentence spells it. If the positions cover several words, these words are joined into one."""
        return run_of(self.sentence.words, self.positions)

    @property
    def words(self) -> tuple[Word, ...]:
        """The sentence's words in order. If `positions` covers several words, these words are joined into one."""
        return tuple(with_run(self.sentence.words, self.positions))

    @property
    def others(self) -> tuple[Word, ...]:
        """The sentence's other words in order, including repetitions of this word."""
        return tuple(word for word in self.sentence.words if {*self.positions}.isdisjoint(word.positions))

    @property
    def rows(self) -> slice:
        """The word's positions as a slice, for the argument `rows` of `Encoding.trace` and `Encoding.weights`."""
        return slice(self.positions[0], self.positions[-1] + 1)

    @property
    def number(self) -> int:
        """The number of this occurrence of the word in the sentence, from 1."""
        return 1 + self.sentence.places(self.word.text).index(self)

    @property
    def key(self) -> tuple[str, str | None, tuple[int, ...]]:
        """The cache key for an encoder's results about the word."""
        return self.sentence.text, self.sentence.pair, self.positions
