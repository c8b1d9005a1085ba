"""Compute one head's attention map between the words of a text."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from selfattn.analysis.measures import hide_special
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.words import Word, between_groups, to_groups, token_groups

MOST = 256  # largest number of rows in a picture


class Places(NamedTuple):
    """The m rows or columns of a map: their labels and tokens."""

    labels: tuple[str, ...]  # m: words, and tokens that belong to no word
    groups: tuple[tuple[int, ...], ...]  # m: token positions
    special: tuple[bool, ...]  # m: True for a special token


def places(encoding: Encoding, *, words: bool | Sequence[Word] = True) -> Places:
    """Return the rows of an attention map: words, and tokens that belong to no word. words=False: every token is a row."""
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
    """One head's weights between m words or tokens. Rows are queries, columns keys."""

    labels: tuple[str, ...]  # m: in a shrunk map, the first and last word
    groups: tuple[tuple[int, ...], ...]  # m: token positions
    special: tuple[bool, ...]  # m: True for a row of special tokens only
    matrix: Tensor  # (m, m)
    hidden: float = 0.0  # mean weight on left-out special tokens
    step: int = 1  # rows of the complete map in a cell

    def rows_of(self, positions: Sequence[int]) -> list[int]:
        """Return the rows that contain at least one of these token positions."""
        wanted = set(positions)
        return [row for row, group in enumerate(self.groups) if wanted & set(group)]

    def part(self, rows: Sequence[int]) -> "WordMap":
        """Return a smaller map: only the words of these rows, as queries and as keys."""
        rows = list(rows)
        edges = self.labels, self.groups, self.special
        labels, groups, special = (tuple(edge[row] for row in rows) for edge in edges)
        return replace(self, labels=labels, groups=groups, special=special, matrix=self.matrix[rows][:, rows])

    def minus(self, other: "WordMap") -> "WordMap":
        """Return this map minus `other`. Both maps must have the same rows."""
        return replace(self, matrix=self.matrix - other.matrix)

    def binned(self, most: int = MOST) -> "WordMap":
        """Shrink the map to at most `most` rows and columns.

        Each new cell keeps the weight with the largest absolute value among the cells that it replaces.
        """
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
    """Return the map of one head's weights (n, n) between a text's words.

    words: the words to map; True: all words; False: tokens instead of words.
    If a word has several tokens, the weights to its tokens are summed, and the weights from its tokens are averaged.
    special: False leaves out special tokens and rescales the rows to sum to 1.
    Source: Clark et al. 2019, "What Does BERT Look At?", section 4.1.
    """
    labels, groups, is_special = places(encoding, words=words)
    matrix = between_groups(weights, groups, groups) if words else weights
    complete = WordMap(labels=labels, groups=groups, special=is_special, matrix=matrix)
    if special or all(is_special):
        return complete
    ordinary, hidden = hide_special(matrix, is_special)
    kept = complete.part([row for row, out in enumerate(is_special) if not out])
    return replace(kept, matrix=ordinary, hidden=float(hidden.mean()))


@dataclass(frozen=True, eq=False)
class Attended:
    """One word's attention weights to the words of its text, in every head."""

    labels: tuple[str, ...]  # m, in the order of the text
    groups: tuple[tuple[int, ...], ...]  # m: token positions
    special: tuple[bool, ...]  # m
    others: tuple[int | None, ...]  # m: index in `PlacedWord.others`, or None
    chosen: int  # index of the word itself
    weights: Tensor  # (n_layers, n_heads, m)


def attended(word: PlacedWord[Encoding], keep: Collection[int] | None = None) -> Attended:
    """Return one word's attention weights to the words of its text, in every head.

    keep: indices in `word.others` of the words to include; None: all. Special tokens are always included.
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
