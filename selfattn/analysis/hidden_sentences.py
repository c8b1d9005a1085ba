"""Which sentences of a long text an encoder's answer rests on: each hidden whole, then the words of the eight that matter most.

A sentence is hidden as a word is, all its tokens at once. Beside its effect is a noise level: the largest effect of 19 draws of
at least as many tokens, in words from anywhere in its segment. A sentence that is no more than its number of words passes it once
in 20. What it doesn't say: sentences that say the same thing cover for one another, so neither may pass.
Source: Li et al. 2016, "Understanding Neural Networks through Representation Erasure", section 5.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
import regex
import torch
from torch import Tensor

from selfattn.analysis.explaining import Explained, explain
from selfattn.analysis.targets import Target, changed, without
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder, Progress, half_of, silent
from selfattn.encoders.placed_word import Tokens
from selfattn.words import Span, Word

LONG, SENTENCES = 64, 3  # tokens and sentences from which on a text is long
OPENED = 8  # sentences whose words are hidden one by one
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


@dataclass(frozen=True, eq=False, kw_only=True)
class HiddenSentences:
    """A target in a long text, and by how much it changes without each sentence: negative, it is less."""

    tokens: Tokens
    number: float  # as it is
    sentences: tuple[Sentence, ...]
    effect: Tensor  # (n_sentences,): with each hidden from everything; NaN where nothing would be left
    level: Tensor  # (n_sentences,): its noise level; NaN in a segment of fewer than three sentences
    explained: Explained  # the words of the eight sentences of the largest effects, and the heads

    @property
    def named(self) -> tuple[int, ...]:
        """The sentences at or above their noise level, the largest effect first."""
        above = (self.effect.abs() >= self.level) & (self.effect != 0)
        return tuple(sorted(above.nonzero().flatten().tolist(), key=lambda at: -abs(float(self.effect[at]))))

    @property
    def frame(self) -> pd.DataFrame:
        """A row a sentence: place, text, segment, start, stop (tokens), effect, level, named, opened (its words were hidden)."""
        words = {*self.explained.words}
        named = {*self.named}
        rows = [
            (
                at,
                s.text,
                s.segment,
                s.positions[0],
                s.positions[-1] + 1,
                effect,
                level,
                at in named,
                s.words[0] in words,
            )
            for at, (s, effect, level) in enumerate(zip(self.sentences, self.effect.tolist(), self.level.tolist()))
        ]
        return pd.DataFrame(
            rows, columns=["place", "text", "segment", "start", "stop", "effect", "level", "named", "opened"]
        )


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
    if len(tokens.ids) <= LONG:
        return False
    sentences = sentences_of(tokens)
    return any(_count(sentences, segment) >= SENTENCES for segment in (0, 1))


def _count(sentences: Sequence[Sentence], segment: int) -> int:
    return sum(each.segment == segment for each in sentences)


def hidden_sentences(
    encoder: Encoder,
    tokens: Tokens,
    target: Target,
    *,
    heads: Sequence[Head] | None = None,
    progress: Progress = silent,
) -> HiddenSentences:
    """Hide each sentence of a text from everything, then each word of the eight whose effects are largest.

    tokens, target, heads: as in `explain`. The draws of the noise level have a fixed seed. progress(done, total) counts passes,
    those over sentences and those over words as half each. Raises TextError.
    """
    sentences = sentences_of(tokens)
    several = {segment for segment in (0, 1) if _count(sentences, segment) >= SENTENCES}
    kinds = [(each.segment, _rounded(len(each.positions))) for each in sentences]
    draws = {kind: _draws(tokens.words_of[kind[0]], kind[1]) for kind in dict.fromkeys(kinds) if kind[0] in several}
    wanted = [(), *(each.positions for each in sentences), *(draw for own in draws.values() for draw in own)]
    left = [bool(without(target, positions).positions) for positions in wanted]
    values = torch.full((len(wanted),), torch.nan)
    run = [positions for positions, some in zip(wanted, left) if some]
    values[left] = changed(encoder, tokens, target, run, progress=half_of(progress, 0))
    change = values[1:] - values[0]
    effect, drawn = change[: len(sentences)], change[len(sentences) :].abs().reshape(-1, DRAWS).amax(dim=1)
    levels = dict(zip(draws, drawn.tolist()))
    opened = effect.abs().nan_to_num(nan=-1.0).argsort(descending=True, stable=True)[:OPENED]
    words = [word for at in sorted(opened.tolist()) for word in sentences[at].words]
    return HiddenSentences(
        tokens=tokens, number=float(values[0]), sentences=sentences, effect=effect,
        level=torch.tensor([levels.get(kind, math.nan) for kind in kinds]),
        explained=explain(encoder, tokens, target, words=words, heads=heads, progress=half_of(progress, 1)),
    )  # fmt: skip


def _rounded(size: int) -> int:
    """A number of tokens, rounded up to a step that sentences of like length share."""
    return math.ceil(STEP ** math.ceil(math.log(size, STEP)))


def _draws(words: Sequence[Word], size: int) -> list[tuple[int, ...]]:
    """19 times the positions of words in a random order, until there are so many; of all words where there are fewer."""
    random, found = np.random.default_rng(0), []
    for _ in range(DRAWS):
        order = random.permutation(len(words))
        counts = np.cumsum([words[at].stop - words[at].start for at in order])
        taken = order[: int(np.searchsorted(counts, size)) + 1]
        found.append(tuple(sorted(position for at in taken for position in words[at].positions)))
    return found
