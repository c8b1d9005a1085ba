"""Split a text into sentences, and draw random sets of words."""

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

LONG, SENTENCES = 64, 3  # a long text has more than 64 tokens and at least 3 sentences
DRAWS = 19  # chance exceeds the largest of 19 draws once in 20
STEP = 1.5  # sentences with lengths up to this factor apart share their draws

# A sentence ends at . ! ? … or several dots if whitespace and a character other than a lower-case letter follow.
# The dot of a single letter or an abbreviation ends no sentence. 。！？ and line breaks always end one.
SHORT_FORMS = r"(?<!\b(?:\p{L}|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|No|Fig|vs|etc|approx|e\.g|i\.e)\.)"
CLOSING = r"[\"'”’»)\]」』）]*"
END = regex.compile(
    rf"(?:[.]{SHORT_FORMS}|[!?…]|\.{{2,}})[.!?…]*{CLOSING}(?=\s+[^\s\p{{Ll}}])|[。！？]+{CLOSING}|\s*\n", regex.V1
)


@dataclass(frozen=True)
class Sentence:
    """A sentence of a text, and the sentence's words."""

    text: str
    at: int  # index of the first character in its segment
    segment: int  # 1 in the second of two texts, else 0
    words: tuple[Word, ...]

    @property
    def positions(self) -> tuple[int, ...]:
        return tuple(position for word in self.words for position in word.positions)


def sentence_spans(text: str) -> list[Span]:
    """Return the character span of each sentence, without surrounding blanks."""
    ends = [0, *(end.end() for end in END.finditer(text)), len(text)]
    parts = ((start, text[start:stop]) for start, stop in pairwise(ends))
    return [
        (start + len(part) - len(part.lstrip()), start + len(part.rstrip())) for start, part in parts if part.strip()
    ]


def sentences_of(tokens: Tokens) -> tuple[Sentence, ...]:
    """Return the sentences of one or two texts, except sentences without words."""
    found = []
    for segment, (text, words) in enumerate(zip((tokens.text, tokens.pair or ""), tokens.words_of)):
        spans = sentence_spans(text)
        for n, (start, stop) in enumerate(spans):
            first, end = start if n else 0, spans[n + 1][0] if n + 1 < len(spans) else len(text)
            if inside := tuple(word for word in words if first <= word.at < end):
                found.append(Sentence(text[start:stop], start, segment, inside))
    return tuple(found)


def is_long(tokens: Tokens) -> bool:
    """Return True for a text in which whole sentences should be hidden first, then single words."""
    return len(tokens.ids) > LONG and bool(segments_with_levels(sentences_of(tokens)))


def segments_with_levels(sentences: Sequence[Sentence]) -> set[int]:
    """Return the segments (0: first text, 1: second text) with three or more sentences."""
    counts = Counter(each.segment for each in sentences)
    return {segment for segment, count in counts.items() if count >= SENTENCES}


def draws_for(tokens: Tokens, sentences: Sequence[Sentence]) -> tuple[list[Positions], list[slice | None]]:
    """Draw 19 random sets of a text's words for each sentence of the text.

    Returns a list of all sets, and for each sentence the slice of this list with the sentence's sets.
    A set has at least as many tokens as its sentence. The slice is None in texts of fewer than three sentences.
    """
    levels, found, places = segments_with_levels(sentences), [], {}
    kinds = [(each.segment, _rounded(len(each.positions))) for each in sentences]
    for segment, size in dict.fromkeys(kinds):
        if segment in levels:
            places[segment, size] = slice(len(found), len(found) + DRAWS)
            found += _draws(tokens.words_of[segment], size)
    return found, [places.get(kind) for kind in kinds]


def _rounded(size: int) -> int:
    return math.ceil(STEP ** math.ceil(math.log(size, STEP)))


def _draws(words: Sequence[Word], size: int) -> list[Positions]:
    random, found = np.random.default_rng(0), []
    for _ in range(DRAWS):
        order = random.permutation(len(words))
        counts = np.cumsum([words[at].stop - words[at].start for at in order])
        taken = order[: int(np.searchsorted(counts, size)) + 1]
        found.append(tuple(sorted(position for at in taken for position in words[at].positions)))
    return found
