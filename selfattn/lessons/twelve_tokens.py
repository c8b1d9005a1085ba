"""Q, K and V set by hand on twelve tokens: "good" attends to "not", unless another key is as large.

Source: the published example (d = 2, all zero but three rows). Its heading says "masked" but its code has no mask; the
printed context belongs to the version without one. The causal version is here too.
"""

from collections.abc import Mapping, Sequence

import torch

from selfattn.analysis.what_if import causal_mask
from selfattn.kernel import AttentionTrace, attend
from selfattn.lessons import typed_numbers

TOKENS = ("The", "movie", "was", "not", "good", ",", "but", "the", "soundtrack", "was", "amazing", ".")
NOT, GOOD, SOUNDTRACK, AMAZING = 3, 4, 8, 10
QUERIES_AND_KEYS = {NOT: (20.0, 20.0), GOOD: (0.0, 1.0), AMAZING: (19.0, 19.0)}
OF_THE_MAP = {
    NOT: (0.0, 1.0),
    GOOD: (0.0, 1.0),
    SOUNDTRACK: (19.0, 19.0),
    AMAZING: (19.0, 19.0),
}  # the annotated heatmap's
VALUES = {NOT: (1.0, 0.0), GOOD: (0.0, 1.0), AMAZING: (1.0, 1.0)}


def compute(
    queries_and_keys: Mapping[int, Sequence[float]] = QUERIES_AND_KEYS,
    values: Mapping[int, Sequence[float]] = VALUES,
    causal: bool = False,
) -> AttentionTrace:
    """All twelve tokens at once; rows that are not given are [0, 0]. causal: no token sees a later one."""
    both, value = _rows("Q = K", queries_and_keys), _rows("V", values)
    return attend(both, both, value, mask=causal_mask(len(TOKENS)) if causal else None)


def _rows(name: str, rows: Mapping[int, Sequence[float]]) -> torch.Tensor:
    matrix = torch.zeros(len(TOKENS), 2, dtype=torch.float64)
    for position, row in rows.items():
        matrix[position] = typed_numbers.vector(f"{name} of {TOKENS[position]}", row, 2)
    return matrix
