"""Attention is not symmetric: i's weight on j is not j's on i, even where the scores are.

Source: softmax normalises each row by itself, so equal scores become unequal weights.
"""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Asymmetry:
    """The two positions whose mutual weights differ most."""

    row: int
    column: int
    forth: float  # weight of row on column
    back: float  # weight of column on row
    mean_difference: float  # mean of |W - W^T| over all pairs of different positions


def asymmetry(weights: Tensor) -> Asymmetry:
    """For square weights (n, n), n at least 2: where forth and back differ most; forth is the larger."""
    if weights.dim() != 2 or weights.shape[0] != weights.shape[1] or len(weights) < 2:
        raise ValueError(f"Expected square weights (n, n), n at least 2, got {tuple(weights.shape)}. Give one head's.")
    difference = weights - weights.T
    row, column = divmod(int(difference.argmax()), len(weights))
    pairs = len(weights) * (len(weights) - 1)
    mean = float(difference.abs().sum()) / pairs
    return Asymmetry(row, column, float(weights[row, column]), float(weights[column, row]), mean)
