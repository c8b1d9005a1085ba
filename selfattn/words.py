"""Group tokens into orthographic words, by character offsets.

In scripts without spaces, such as Chinese, each letter is a word, and letters that share a token are one word.
"""

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

import regex
import torch
from torch import Tensor

Span = tuple[int, int]  # characters start to stop, stop excluded

# Character sets in the V1 syntax of the package `regex`.
UNSEEN = r"[[\p{Default_Ignorable_Code_Point}\p{Cc}]--\s]"  # zero-width characters, soft hyphens, controls
SPACELESS = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}ー\uff70〆\p{Line_Break=Complex_Context}]"
SPACED = rf"[[\p{{L}}\p{{M}}\p{{N}}]--{SPACELESS}--{UNSEEN}]"
INNER = r"['’\-\u2010\u2011]"  # joins two runs of letters into one word: didn't, well-known
# Characters that are drawn as pictures by default or if U+FE0F follows, and pictographs from U+2600 on.
EMOJI = (
    r"\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F|[\p{Extended_Pictographic}&&[\u2600-\U0010FFFF]]"
    r"|[0-9#*]\uFE0F?\u20E3"
)
UNIT = rf"{SPACELESS}(?:\p{{M}}|{UNSEEN})*+"


def _cut_into(spaceless: str) -> regex.Pattern:
    """Return a pattern that matches one word. spaceless: the pattern of a word in scripts without spaces."""
    run = rf"{SPACED}(?:{SPACED}|{UNSEEN}|{INNER}(?={UNSEEN}*+{SPACED}))*+"
    seen = rf"{spaceless}|{run}|(?=(?:{EMOJI}))\X|\S\p{{M}}*+"
    return regex.compile(rf"(?V1){UNSEEN}*+(?:{seen}){UNSEEN}*+|{UNSEEN}++")


WORD, UNITS = _cut_into(f"(?:{UNIT})++"), _cut_into(UNIT)
NAMED = regex.compile(rf"(?V1)[[\p{{L}}\p{{N}}]--{UNSEEN}]|{EMOJI}")
IN_RUNS = regex.compile(f"(?V1){SPACELESS}+")
NOT_SEEN = regex.compile(f"(?V1){UNSEEN}")
ALIKE = str.maketrans("’‘ʼ＇\u2010\u2011", "''''--")


@dataclass(frozen=True)
class Word:
    """An orthographic word. Its tokens have the positions from `start` to `stop` - 1."""

    text: str
    start: int
    stop: int
    unknown: str = ""  # the unknown token, such as "[UNK]", if the tokeniser can't read the word
    at: int = field(default=0, compare=False, repr=False)  # index of the first character in the segment

    @property
    def positions(self) -> tuple[int, ...]:
        """The positions of the word's tokens."""
        return tuple(range(self.start, self.stop))

    @property
    def span(self) -> Span:
        """The word's range of characters in its segment: (start, stop), with `stop` excluded."""
        return self.at, self.at + len(self.text)

    @property
    def label(self) -> str:
        """The text, followed by the field `unknown` if that isn't empty."""
        return f"{self.text} {self.unknown}" if self.unknown else self.text

    @property
    def is_punctuation(self) -> bool:
        """True if the word has no letter, digit or emoji."""
        return not NAMED.search(self.text)


@lru_cache(2**14)
def fold(text: str) -> str:
    """Return the form in which words are compared.

    Case, invisible characters, and kinds of apostrophe and hyphen don't matter.
    """
    decomposed = unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).casefold())
    return unicodedata.normalize("NFC", NOT_SEEN.sub("", decomposed).translate(ALIKE).replace("i\u0307", "i"))


def character_spans(text: str) -> list[Span]:
    """Return each word's span. In scripts without spaces, each unbroken run of letters is one span."""
    return [word.span() for word in WORD.finditer(text)]


def split_words(text: str) -> tuple[str, ...]:
    """Return the text's words, without punctuation."""
    return tuple(word for word in WORD.findall(text) if NAMED.search(word))


def spans_in_runs(text: str, words: Collection[str]) -> Iterator[Span]:
    """Yield the spans of `words` in the text. The longest match wins.

    words: folded by `fold`; words of writing systems with spaces are ignored
    """
    wanted = {word for word in words if IN_RUNS.search(word)}
    if not wanted:
        return
    longest = max(map(len, wanted))
    for run in WORD.finditer(text):
        units = [(unit.start() + run.start(), fold(unit[0])) for unit in UNITS.finditer(run[0])]
        ends, at = [start for start, _ in units[1:]] + [run.end()], 0
        while at < len(units):
            joined, found = "", at
            for last in range(at, len(units)):
                joined += units[last][1]
                if len(joined) > longest:
                    break
                found = last + 1 if joined in wanted else found
            if found > at:
                yield units[at][0], ends[found - 1]
            at = max(found, at + 1)


def has_runs(text: str) -> bool:
    """Return True if part of the text is in a script without spaces."""
    return IN_RUNS.search(text) is not None


def words_in(text: str, words: Iterable[str]) -> tuple[str, ...]:
    """Return which of `words` occur in the text as whole words. words: folded by `fold`."""
    folded = fold.__wrapped__(text)
    possible = [word for word in words if word in folded]  # a fast test first: splitting is slow
    if not possible:
        return ()
    folded_words = {fold(word) for word in WORD.findall(text)}
    return tuple(word for word in possible if word in folded_words or any(spans_in_runs(text, [word])))


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order. Overlapping spans are joined."""
    found: list[Span] = []
    for start, stop in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], stop)
        else:
            found.append((start, stop))
    return found


def token_words(text: str, offsets: Sequence[Span], special: Sequence[bool]) -> list[Word]:
    """Return the words of `text` with the positions of their tokens.

    offsets: each token's (start, stop) characters. Words that share a token are merged. Words without a token are left out.
    """
    readable = [(at, span) for at, (span, out) in enumerate(zip(offsets, special)) if span[0] < span[1] and not out]
    units = [unit.span() for unit in UNITS.finditer(text)]
    starts, stops = zip(*units) if units else ((), ())
    # For each token, the spans in `units` that it overlaps: the first index, and the last index plus 1.
    reached = [(at, (bisect_right(stops, start), bisect_left(starts, stop))) for at, (start, stop) in readable]
    reached = [(at, span) for at, span in reached if span[0] < span[1]]
    groups = merged(span for _, span in reached)
    firsts = [first for first, _ in groups]
    members: list[list[int]] = [[] for _ in groups]
    for at, (first, _) in reached:
        members[bisect_right(firsts, first) - 1].append(at)
    return [
        Word(text[starts[first] : stops[last - 1]], tokens[0], tokens[-1] + 1, at=starts[first])
        for (first, last), tokens in zip(groups, members)
    ]


def run_of(words: Sequence[Word], positions: Collection[int]) -> Word:
    """Merge all words at these positions. Raises IndexError if no word is there."""
    chosen = {*positions}
    joined = [word for word in words if not chosen.isdisjoint(word.positions)]
    parts = [joined[0].text]
    for before, word in pairwise(joined):
        parts.append(" " * (word.at > before.span[1]) + word.text)
    return Word("".join(parts), joined[0].start, joined[-1].stop, at=joined[0].at) if len(joined) > 1 else joined[0]


def with_run(words: Sequence[Word], positions: Collection[int]) -> list[Word]:
    """Return the words, with all words at `positions` merged into one."""
    chosen = {*positions}
    apart = [word for word in words if chosen.isdisjoint(word.positions)]
    joined = [run_of(words, positions)] if len(apart) < len(words) else []
    return sorted([*apart, *joined], key=lambda word: word.start)


def shared_words(first: Sequence[Word], second: Sequence[Word]) -> list[str]:
    """Return the words that both sentences contain, longest first, spelled as in the first sentence.

    Parts of words count: "river" of "/river".
    """
    others = {name for word in second if not word.unknown for name in map(fold, _names(word))}
    kept: dict[str, str] = {}
    for word in first:
        shared = [name for name in _names(word) if fold(name) in others and not word.unknown]
        for name in shared[:1] if word.text in shared else shared:
            kept.setdefault(fold(name), name)
    return sorted(kept.values(), key=len, reverse=True)


def shared_runs(first: str, second: str) -> list[str]:
    """Return the strings of a script without spaces (such as Chinese) that both texts contain, longest first."""
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    runs = (run[0] for at, _, size in blocks for run in IN_RUNS.finditer(first[at : at + size]))
    return sorted(dict.fromkeys(runs), key=len, reverse=True)


def _names(word: Word) -> list[str]:
    """Return the word's text and the words in this text, such as "river" in "/river". Texts of only punctuation are left out."""
    return [name for name in dict.fromkeys([word.text, *WORD.findall(word.text)]) if NAMED.search(name)]


def to_groups(weights: Tensor, groups: Sequence[Sequence[int]]) -> Tensor:
    """Sum weights over groups of key positions: (..., n) -> (..., n_groups)."""
    if not groups:
        return weights.new_zeros(*weights.shape[:-1], 0)
    return torch.stack([weights[..., list(group)].sum(-1) for group in groups], dim=-1)


def between_groups(weights: Tensor, rows: Sequence[Sequence[int]], columns: Sequence[Sequence[int]]) -> Tensor:
    """Convert weights between tokens to weights between groups: (..., n, n) -> (..., n_rows, n_columns).

    Weights to a group are summed; weights from a group are averaged. (Clark et al. 2019, section 4.1)
    """
    summed = to_groups(weights, columns)
    return torch.stack([summed[..., list(group), :].mean(-2) for group in rows], dim=-2)


def token_groups(n: int, words: Sequence[Word]) -> list[tuple[int, ...]]:
    """Group the positions 0 ... n - 1: one group for each word, and for each token outside all words."""
    first = {word.start: word.positions for word in words}
    others = {position for word in words for position in word.positions[1:]}
    return [first.get(position, (position,)) for position in range(n) if position not in others]


def numbered(texts: Sequence[str]) -> list[str]:
    """Number texts that occur more than once: "the (1)", "the (2)"."""
    return [
        text if texts.count(text) == 1 else f"{text} ({texts[: at + 1].count(text)})" for at, text in enumerate(texts)
    ]
