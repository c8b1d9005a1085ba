"""The sentences about hidden words: which word a word's meaning comes from in two sentences, how far it moves without it.

Every number is computed, and the numbers choose the branch. `analysis.hiding.hidden_pair` has the shares.
"""

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

from selfattn import numbers
from selfattn.analysis.hiding import HiddenPair
from selfattn.senses.hiding import CLEAR, NAMED
from selfattn.words import Word

MOSTLY = 0.33  # the share from which the meaning comes mostly from a word
MOST = 3  # words that share it, at most


class Ranked(NamedTuple):
    """A word that may be named, and its share."""

    text: str
    share: float


def ranked(words: Sequence[Word], share: Tensor) -> list[Ranked]:
    """The words that were measured, without punctuation, the largest share first."""
    known = [Ranked(word.label, float(value)) for word, value in zip(words, share) if not word.is_punctuation]
    return sorted((one for one in known if one.share == one.share), key=lambda one: -one.share)


def source(words: Sequence[Ranked]) -> str:
    """Where the meaning comes from in one sentence, to stand after "In A ": of `ranked` words."""
    if not words:
        return "there is no other word to hide"
    first = words[0]
    if first.share < NAMED:
        return f'from no single word: the largest is "{first.text}", {_percent(first)}'
    if len(words) == 1 or first.share >= CLEAR * words[1].share:
        if first.share >= MOSTLY:
            return f'mostly from "{first.text}"'
        return f'more from "{first.text}" than from any other word'
    named = [f'"{one.text}"' for one in words[:MOST] if one.share >= first.share / 2]
    return f"from {', '.join(named[:-1])} and {named[-1]}"


def answer(pair: HiddenPair) -> list[str]:
    """Which word it comes from in A and in B; and how far the chosen word moves without it, with the next one's share.

    None where there is no way to move on: the pair's notes say so.
    """
    sides = [ranked(words, share) for words, share in zip(pair.words, pair.share)]
    if any(not side and any(not word.is_punctuation for word in words) for side, words in zip(sides, pair.words)):
        return []
    word, moves = pair.placed[0].word.text, []
    for other, side in zip("BA", sides):
        for first in side[:1]:
            way = f'{other}\'s "{word}"' if pair.senses is None else "its other sense"
            step = f'hide "{first.text}", {_percent(first)}'
            if not moves:
                step = f'Hide "{first.text}" from "{word}", and "{word}" moves {_percent(first)} of the way to {way}'
            next_one = [f'{"" if moves else "next: "}"{each.text}", {_percent(each)}' for each in side[1:2]]
            moves.append(f"{step}{''.join(f' ({each})' for each in next_one)}")
    return [f"In A {source(sides[0])}; in B {source(sides[1])}.", *([f"{'; '.join(moves)}."] if moves else [])]


def _percent(word: Ranked) -> str:
    return f"{numbers.decimal(100 * word.share, 0)} %"
