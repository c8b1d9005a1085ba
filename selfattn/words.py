"""Word pieces and words: which tokens make up which orthographic word, by one rule for every tokeniser.

A run of letters, marks and digits, with apostrophes and hyphens inside it, is one word; any other visible character
stands alone, with the marks that follow it. Tokens are assigned by their character offsets, never by their spelling
("##", "Ġ", "▁").
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

# What joins two runs into one word: didn't, well-known; and the invisible joiners of Persian and Indic scripts.
INNER = "'’-\u2010\u2011\u00ad\u200c\u200d"
# A word by its characters' kinds (`_kind`): letters, marks and numbers, joined; or a visible sign with its marks, as the heart's
# colour in "❤️". What can't be seen (separators, controls) is in none.
WORD = re.compile(r"[LMN](?:[LMN]|[Jj](?=[LMN]))*|[^CZj]M*")


@dataclass(frozen=True)
class Word:
    """An orthographic word and the tokens it is made of: positions start to stop, stop excluded."""

    text: str
    start: int
    stop: int
    unknown: str = ""  # "[UNK]" or the like, where the tokeniser doesn't know a piece of it

    @property
    def positions(self) -> tuple[int, ...]:
        """The positions of the word's tokens."""
        return tuple(range(self.start, self.stop))

    @property
    def label(self) -> str:
        """The word in a picture or a table: one that the tokeniser doesn't know is marked."""
        return f"{self.text} {self.unknown}".rstrip()

    @property
    def is_punctuation(self) -> bool:
        """Whether it has no letter and no digit."""
        return not _has_letter_or_digit(self.text)


def character_spans(text: str) -> list[tuple[int, int]]:
    """The (start, stop) character span of each word of the text, in order; white space and controls are in none."""
    return [word.span() for word in WORD.finditer("".join(map(_kind, text)))]


def split_words(text: str) -> tuple[str, ...]:
    """The words of the text that have a letter or a digit, in order: no punctuation, no signs."""
    return tuple(word for word in (text[slice(*span)] for span in character_spans(text)) if _has_letter_or_digit(word))


def token_words(text: str, offsets: Sequence[tuple[int, int]], special: Sequence[bool]) -> list[Word]:
    """The words of `text` with the tokens they consist of.

    offsets: each token's (start, stop) characters in the text. Special tokens belong to no word, nor do tokens over
    white space only; a token that reaches over two words goes to the first. Words without a token are left out.
    """
    spans = character_spans(text)
    stops = [stop for _, stop in spans]
    members: dict[int, list[int]] = {}
    for position, ((start, stop), is_special) in enumerate(zip(offsets, special)):
        index = bisect_right(stops, start)  # the first word that ends behind the token's start
        if not is_special and start < stop and index < len(spans) and spans[index][0] < stop:
            members.setdefault(index, []).append(position)
    return [Word(text[slice(*spans[i])], tokens[0], tokens[-1] + 1) for i, tokens in members.items()]


def shared_words(first: Sequence[Word], second: Sequence[Word]) -> list[str]:
    """Words, no punctuation and none unknown, that stand in both sentences, as first spelled, longest first."""
    others = {word.text.casefold() for word in second if not word.unknown}
    kept: dict[str, str] = {}
    for word in first:
        folded = word.text.casefold()
        if folded in others and not word.is_punctuation and not word.unknown:
            kept.setdefault(folded, word.text)
    return sorted(kept.values(), key=len, reverse=True)


def to_groups(weights: Tensor, groups: Sequence[Sequence[int]]) -> Tensor:
    """Weights to tokens (..., n) as weights to groups of token positions (..., m): the sum over each group."""
    if not groups:
        return weights.new_zeros(*weights.shape[:-1], 0)
    return torch.stack([weights[..., list(group)].sum(-1) for group in groups], dim=-1)


def between_groups(weights: Tensor, rows: Sequence[Sequence[int]], columns: Sequence[Sequence[int]]) -> Tensor:
    """Weights between tokens (..., n, n) as weights from groups of positions to groups, (..., n_rows, n_columns).

    To a split word: the sum over its pieces. From a split word: the mean over its pieces. So where the columns hold every
    token, rows still sum to 1. (Clark et al. 2019, section 4.1)
    """
    summed = to_groups(weights, columns)
    return torch.stack([summed[..., list(group), :].mean(-2) for group in rows], dim=-2)


def token_groups(n: int, words: Sequence[Word]) -> list[tuple[int, ...]]:
    """The positions 0 ... n - 1 in order, those of one word together and every other token alone."""
    first = {word.start: word.positions for word in words}
    others = {position for word in words for position in word.positions[1:]}
    return [first.get(position, (position,)) for position in range(n) if position not in others]


def _kind(character: str) -> str:
    """One letter: the first of its Unicode category; of what joins words "J", or "j" where it can't be seen."""
    category = unicodedata.category(character)[0]
    if character in INNER:
        return "j" if category == "C" else "J"
    return category


def _has_letter_or_digit(text: str) -> bool:
    return any(unicodedata.category(character)[0] in "LN" for character in text)


def numbered(texts: Sequence[str]) -> list[str]:
    """Words for a list to choose from: a repeated one has its number, "the (2)"."""
    return [
        text if texts.count(text) == 1 else f"{text} ({texts[: at + 1].count(text)})" for at, text in enumerate(texts)
    ]
