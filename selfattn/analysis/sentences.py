"""The sentences of a text, and draws of as many of its words, beside which hiding a sentence is judged."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import regex

from selfattn.encoders.placed_word import Tokens
from selfattn.words import Span, Word

Positions = tuple[int, ...]

LONG, SENTENCES = 64, 3  # tokens and sentences from which on a text is long
DRAWS = 19  # the largest of so many is passed by chance once in 20
STEP = 1.5  # a sentence shares its draws with others of up to so many times fewer tokens

# The end: . ! ? or ... with the quotation marks and brackets that follow, before a blank and no lower-case letter. No end: after
# a single letter and the common short forms. In Chinese and Japanese their own full stops; everywhere a line break.
SHORT_FORMS = r"(?<!\b(?:\p{L}|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|No|Fig|vs|etc|approx|e\.g|i\.e)\.)"
CLOSING = r"[\"'”’»)\]」』）]*"
END = regex.compile(
    rf"(?:[.]{SHORT_FORMS}|[!?…]|\.{{2,}})[.!?…]*{CLOSING}(?=\s+[^\s\p{{Ll}}])|[。！？]+{CLOSING}|\s*\n", regex.V1
)


@dataclass(frozen=True)
class Sentence:
    """A sentence of a text and its words."""

    text: str
    at: int  # its first character in its segment
    segment: int  # 1: in the second of two texts
    words: tuple[Word, ...]

    @property
    def positions(self) -> tuple[int, ...]:
        """The positions of its words' tokens."""
        return tuple(position for word in self.words for position in word.positions)


def sentence_spans(text: str) -> list[Span]:
    """The (start, stop) characters of each sentence, blanks around it left out."""
    ends = [0, *(end.end() for end in END.finditer(text)), len(text)]
    parts = ((start, text[start:stop]) for start, stop in pairwise(ends))
    return [
        (start + len(part) - len(part.lstrip()), start + len(part.rstrip())) for start, part in parts if part.strip()
    ]


def sentences_of(tokens: Tokens) -> tuple[Sentence, ...]:
    """The sentences of both segments that have words; a word belongs to the one in which it begins."""
    found = []
    for segment, (text, words) in enumerate(zip((tokens.text, tokens.pair or ""), tokens.words_of)):
        spans = sentence_spans(text)
        for n, (start, stop) in enumerate(spans):
            first, end = start if n else 0, spans[n + 1][0] if n + 1 < len(spans) else len(text)
            if own := tuple(word for word in words if first <= word.at < end):
                found.append(Sentence(text[start:stop], start, segment, own))
    return tuple(found)


def is_long(tokens: Tokens) -> bool:
    """Whether its sentences are hidden before its words: of more than 64 tokens, and three sentences or more in one segment."""
    return len(tokens.ids) > LONG and bool(segments_with_levels(sentences_of(tokens)))


def segments_with_levels(sentences: Sequence[Sentence]) -> set[int]:
    """The segments of three sentences or more: of fewer, any draw would be most of the text."""
    counts = Counter(each.segment for each in sentences)
    return {segment for segment, count in counts.items() if count >= SENTENCES}


def draws_for(tokens: Tokens, sentences: Sequence[Sentence]) -> tuple[list[Positions], list[slice | None]]:
    """Random draws of words with at least as many tokens as each sentence has; and each sentence's own 19 of them.

    None for a sentence of a segment without levels. Sentences of like length share their draws. The seed is fixed.
    """
    levels, found, places = segments_with_levels(sentences), [], {}
    kinds = [(each.segment, _rounded(len(each.positions))) for each in sentences]
    for segment, size in dict.fromkeys(kinds):
        if segment in levels:
            places[segment, size] = slice(len(found), len(found) + DRAWS)
            found += _draws(tokens.words_of[segment], size)
    return found, [places.get(kind) for kind in kinds]


def _rounded(size: int) -> int:
    """A number of tokens, rounded up to a step that sentences of like length share."""
    return math.ceil(STEP ** math.ceil(math.log(size, STEP)))


def _draws(words: Sequence[Word], size: int) -> list[Positions]:
    """19 times the positions of words in a random order, until there are so many; of all words where there are fewer."""
    random, found = np.random.default_rng(0), []
    for _ in range(DRAWS):
        order = random.permutation(len(words))
        counts = np.cumsum([words[at].stop - words[at].start for at in order])
        taken = order[: int(np.searchsorted(counts, size)) + 1]
        found.append(tuple(sorted(position for at in taken for position in words[at].positions)))
    return found
