"""The map by words: one head's weights between the words of a text (or its word pieces), whole, in part or in bins.

Nothing is left out silently: a map knows how much weight was hidden and how many rows one cell stands for.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from selfattn.analysis.measures import hide_special
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.words import Word, between_groups, to_groups, token_groups

MOST = 256  # rows and columns of a picture; longer maps are drawn in bins


class Places(NamedTuple):
    """The labels along an edge of a map, in the order of the text."""

    labels: tuple[str, ...]  # m: words as they are spelled, an unknown one marked, and tokens that belong to no word
    groups: tuple[tuple[int, ...], ...]  # m: the token positions of each
    special: tuple[bool, ...]  # m: whether it is a special token


def places(encoding: Encoding, *, words: bool | Sequence[Word] = True) -> Places:
    """The words of a text (or these) and the tokens that belong to no word; with words=False every token by itself."""
    chosen = encoding.words if words is True else words or ()
    groups = token_groups(len(encoding.tokens), chosen)
    spelled = {word.start: word.label for word in chosen}
    return Places(
        labels=tuple(spelled.get(group[0], encoding.tokens[group[0]]) for group in groups),
        groups=tuple(groups),
        special=tuple(encoding.special[group[0]] for group in groups),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class WordMap:
    """One head's weights between words or word pieces. Rows are queries, columns keys."""

    labels: tuple[str, ...]  # m: the word or token of each row; of a bin, its first and last
    groups: tuple[tuple[int, ...], ...]  # m: the token positions behind each row
    special: tuple[bool, ...]  # m: whether a row is a special token; of a bin, whether all of it is
    matrix: Tensor  # (m, m)
    hidden: float = 0.0  # the mean weight, 0 to 1, that went with the special tokens where they are left out
    step: int = 1  # rows that one cell stands for, in each direction; 1: every weight is there

    def rows_of(self, positions: Sequence[int]) -> list[int]:
        """Return the rows of these tokens, in order; none if they were left out."""
        wanted = set(positions)
        return [row for row, group in enumerate(self.groups) if wanted & set(group)]

    def part(self, rows: Sequence[int]) -> "WordMap":
        """The map of these rows and columns only. Rows no longer sum to 1."""
        rows = list(rows)
        edges = self.labels, self.groups, self.special
        labels, groups, special = (tuple(edge[row] for row in rows) for edge in edges)
        return replace(self, labels=labels, groups=groups, special=special, matrix=self.matrix[rows][:, rows])

    def minus(self, other: "WordMap") -> "WordMap":
        """The difference of two maps over the same rows."""
        return replace(self, matrix=self.matrix - other.matrix)

    def binned(self, most: int = MOST) -> "WordMap":
        """The map in at most `most` rows: a cell is the largest number of its block, by absolute value: peaks stay."""
        n = len(self.labels)
        step = -(-n // most)
        if step == 1:
            return self
        starts = range(0, n, step)
        padded = torch.nn.functional.pad(self.matrix, (0, len(starts) * step - n, 0, len(starts) * step - n))
        blocks = padded.unflatten(1, (-1, step)).unflatten(0, (-1, step)).movedim(1, 2).flatten(2)
        return WordMap(
            labels=tuple(f"{self.labels[i]} … {self.labels[min(i + step, n) - 1]}" for i in starts),
            groups=tuple(tuple(p for group in self.groups[i : i + step] for p in group) for i in starts),
            special=tuple(all(self.special[i : i + step]) for i in starts),
            matrix=blocks.gather(2, blocks.abs().argmax(2, keepdim=True))[..., 0],
            hidden=self.hidden,
            step=step,
        )


def word_map(
    encoding: Encoding, weights: Tensor, *, words: bool | Sequence[Word] = True, special: bool = True
) -> WordMap:
    """One head's weights (n, n) between the words of a text, or between these; words=False: between its word pieces.

    To a split word the sum over its pieces, from it the mean (Clark et al. 2019, section 4.1): rows still sum to 1.
    special=False: special tokens are left out, each row is scaled up to sum to 1 again, and `hidden` says how much of
    the rows' weight that was.
    """
    labels, groups, is_special = places(encoding, words=words)
    matrix = between_groups(weights, groups, groups) if words else weights
    whole = WordMap(labels=labels, groups=groups, special=is_special, matrix=matrix)
    if special or all(is_special):
        return whole
    ordinary, hidden = hide_special(matrix, is_special)
    kept = whole.part([row for row, out in enumerate(is_special) if not out])
    return replace(kept, matrix=ordinary, hidden=float(hidden.mean()))


@dataclass(frozen=True, eq=False)
class Attended:
    """One word's weights in every head, word by word and special token by special token."""

    labels: tuple[str, ...]  # m, in the order of the text
    groups: tuple[tuple[int, ...], ...]  # m: the token positions of each
    special: tuple[bool, ...]  # m
    others: tuple[int | None, ...]  # m: its number among `PlacedWord.others`; None: of no other word
    chosen: int  # which of the m is the word itself
    weights: Tensor  # (n_layers, n_heads, m): to a split word the sum, from it the mean over its pieces


def attended(word: PlacedWord[Encoding], keep: Collection[int] | None = None) -> Attended:
    """One word's row of every head by words. Where nothing is left out, a row sums to 1.

    keep: the other words, by their numbers among `word.others`, that are in it; None: all. Special tokens and the word itself
    always are.
    """
    number = {other.start: at for at, other in enumerate(word.others)}
    labels, groups, special = places(word.sentence, words=word.words)
    others = [number.get(group[0]) for group in groups]
    kept = [row for row, at in enumerate(others) if at is None or keep is None or at in keep]
    chosen = next(row for row, group in enumerate(groups) if word.positions[0] in group)
    return Attended(
        labels=tuple(labels[row] for row in kept),
        groups=tuple(groups[row] for row in kept),
        special=tuple(special[row] for row in kept),
        others=tuple(others[row] for row in kept),
        chosen=kept.index(chosen),
        weights=to_groups(word.sentence.word_rows(word.positions), [groups[row] for row in kept]),
    )
