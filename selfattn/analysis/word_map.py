"""What of one head's attention map is drawn: word pieces or words, with or without special tokens, a range, in bins.

Nothing is left out silently: a view knows how much weight was hidden and how many rows one cell stands for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from selfattn.analysis.measures import hide_special
from selfattn.encoders.encoding import Encoding
from selfattn.words import pool_words

MOST = 256  # rows and columns of a picture; longer ranges are drawn in bins


@dataclass(frozen=True, eq=False)
class MapView:
    """A square part of an attention map, ready to draw. Rows are queries, columns keys."""

    matrix: Tensor  # (m, m)
    labels: tuple[str, ...]  # m: the word or token of each row; of a bin, its first and last
    groups: tuple[tuple[int, ...], ...]  # m: the token positions behind each row
    hidden: float  # the mean weight that hiding special tokens hid, 0 to 1
    step: int  # rows that one cell stands for, in each direction; 1: every weight is drawn

    def rows_of(self, positions: Sequence[int]) -> list[int]:
        """The rows in which these tokens stand, in order; none where they aren't shown."""
        wanted = set(positions)
        return [row for row, group in enumerate(self.groups) if wanted & set(group)]


def map_view(weights: Tensor, encoding: Encoding, *, words: bool = False, special: bool = True) -> MapView:
    """The whole map (n, n) of one head as word pieces or words, special tokens included or not.

    Between words: to a split word the sum, from a split word the mean; rows still sum to 1. Without special tokens each
    row is scaled up to sum to 1 again.
    """
    kept, hidden = list(range(len(encoding.tokens))), 0.0
    if not special and not all(encoding.special):
        kept = [position for position in kept if not encoding.special[position]]
        weights, gone = hide_special(weights, encoding.special)
        hidden = float(gone.mean())
    spelled = dict(enumerate(encoding.tokens))
    groups = [(position,) for position in kept]
    if words:
        places = {position: row for row, position in enumerate(kept)}
        held = [
            replace(w, start=places[w.start], stop=places[w.stop - 1] + 1) for w in encoding.words if w.start in places
        ]
        weights, pooled = pool_words(weights, held)
        groups = [tuple(kept[row] for row in group) for group in pooled]
        spelled |= {word.start: word.text for word in encoding.words}
    return MapView(weights, tuple(spelled[group[0]] for group in groups), tuple(groups), hidden, 1)


def between(view: MapView, start: int, stop: int) -> MapView:
    """The part of the map from row and column `start` to `stop`, stop excluded. Rows no longer sum to 1."""
    part = slice(start, stop)
    return replace(view, matrix=view.matrix[part, part], labels=view.labels[part], groups=view.groups[part])


def minus(view: MapView, other: MapView) -> MapView:
    """The difference of two maps over the same rows."""
    return replace(view, matrix=view.matrix - other.matrix)


def binned(view: MapView, most: int = MOST) -> MapView:
    """The map in at most `most` rows: each cell is the largest number of its block, by absolute value, so peaks stay."""
    n = len(view.labels)
    step = -(-n // most)
    if step == 1:
        return view
    starts = range(0, n, step)
    padded = torch.nn.functional.pad(view.matrix, (0, len(starts) * step - n, 0, len(starts) * step - n))
    blocks = padded.unflatten(1, (-1, step)).unflatten(0, (-1, step)).movedim(1, 2).flatten(2)
    matrix = blocks.gather(2, blocks.abs().argmax(2, keepdim=True))[..., 0]
    labels = tuple(f"{view.labels[i]} … {view.labels[min(i + step, n) - 1]}" for i in starts)
    groups = tuple(tuple(p for group in view.groups[i : i + step] for p in group) for i in starts)
    return MapView(matrix, labels, groups, view.hidden, step)
