"""One head in two sentences, word by word: where words match, how much more weight one sentence gives than the other.

Words are matched in order, letter case aside (Ratcliff and Obershelp's longest common runs, as in difflib). The compared
word is always matched with itself; what stands before it is matched with what stands before, what follows with what
follows. What has no match keeps its place as a gap.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
import pandas as pd
from torch import Tensor

from selfattn.analysis.measures import hide_special
from selfattn.encoders.encoding import Encoding
from selfattn.words import Word, pool_words

Match = tuple[int | None, int | None]  # places in the first and the second sentence; None where there is no match


@dataclass(frozen=True, eq=False)
class Difference:
    """Weights of the first sentence minus the second's, on the words of both in one order."""

    labels: tuple[str, ...]  # m: the words, and the special tokens
    side: tuple[str, ...]  # m: "both", "A" or "B": where the word stands
    matrix: np.ndarray  # (m, m) first minus second; NaN where a row or a column has no match
    chosen: int  # the place of the compared word
    matched_weight: tuple[float, float]  # the share of all weight that lies in matched cells, for A and for B

    def frame(self) -> pd.DataFrame:
        """A row a cell: query_pos, key_pos, query, key, query_in and key_in ("both", "A", "B"), difference (NaN in gaps)."""
        m = len(self.labels)
        rows, columns = np.indices((m, m)).reshape(2, -1)
        return pd.DataFrame(
            {
                "query_pos": rows,
                "key_pos": columns,
                "query": [self.labels[i] for i in rows],
                "key": [self.labels[j] for j in columns],
                "query_in": [self.side[i] for i in rows],
                "key_in": [self.side[j] for j in columns],
                "difference": self.matrix.ravel(),
            }
        )


def align(first: Sequence[object], second: Sequence[object], anchor: tuple[int, int] | None = None) -> list[Match]:
    """Match two sequences in order: every place of both, once. anchor: two places that belong together.

    Where a run of one has no match in the other, the first sequence's places come first.
    """
    if anchor is None:
        return _aligned(first, second, 0, 0)
    i, j = anchor
    return [
        *_aligned(first[:i], second[:j], 0, 0),
        (i, j),
        *_aligned(first[i + 1 :], second[j + 1 :], i + 1, j + 1),
    ]


def difference(
    first: tuple[Encoding, Word], second: tuple[Encoding, Word], layer: int, head: int, hidden: bool = False
) -> Difference:
    """One head's weights in the first sentence minus its weights in the second, between words.

    first, second: the encoding and the compared word in it. To a split word goes the sum over its pieces, from it the
    mean (Clark et al. 2019). hidden: special tokens are left out and each row is scaled up to sum to 1 again.
    """
    sides = [_words(encoding, layer, head, hidden) for encoding, _ in (first, second)]
    keys = [[(special, text.casefold()) for text, special, _ in words] for words, _ in sides]
    anchor = tuple(
        next(i for i, (_, _, start) in enumerate(words) if start == word.start)
        for (words, _), (_, word) in zip(sides, (first, second))
    )
    pairs = align(*keys, anchor)
    (words_a, a), (words_b, b) = sides
    m = len(pairs)
    matrix = np.full((m, m), np.nan)
    both = [place for place, pair in enumerate(pairs) if None not in pair]
    at_a, at_b = [pairs[place][0] for place in both], [pairs[place][1] for place in both]
    matrix[np.ix_(both, both)] = (a[at_a][:, at_a] - b[at_b][:, at_b]).numpy()
    labels = tuple(words_a[i][0] if i is not None else words_b[j][0] for i, j in pairs)
    side = tuple("both" if None not in pair else "A" if pair[1] is None else "B" for pair in pairs)
    shares = tuple(float(w[at][:, at].sum() / w.sum()) for w, at in ((a, at_a), (b, at_b)))
    return Difference(labels, side, matrix, pairs.index(anchor), shares)


def _aligned(first: Sequence[object], second: Sequence[object], start_a: int, start_b: int) -> list[Match]:
    pairs: list[Match] = []
    # autojunk would drop words that are frequent in a long text.
    for kind, a, a_stop, b, b_stop in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        places_a, places_b = range(start_a + a, start_a + a_stop), range(start_b + b, start_b + b_stop)
        if kind == "equal":
            pairs += list(zip(places_a, places_b))
        else:
            pairs += [(i, None) for i in places_a] + [(None, j) for j in places_b]
    return pairs


def _words(encoding: Encoding, layer: int, head: int, hidden: bool) -> tuple[list[tuple[str, bool, int]], Tensor]:
    """Text, whether special, and first token of each word; and the weights between them (m, m)."""
    weights, groups = pool_words(encoding.weights(layer, head), encoding.words)
    spelled = {word.start: word.text for word in encoding.words}
    words = [(spelled.get(g[0], encoding.tokens[g[0]]), encoding.special[g[0]], g[0]) for g in groups]
    if hidden:
        weights, _ = hide_special(weights, [special for _, special, _ in words])
        words = [word for word in words if not word[1]]
    return words, weights
