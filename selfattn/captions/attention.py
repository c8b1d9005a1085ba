"""Captions of two encoders: the largest difference of two heads, and how far heads are from their counterparts."""

from collections.abc import Sequence

import numpy as np

from selfattn import numbers

CELLS = {"weight": numbers.weight, "difference": numbers.change, "difference to the model's own": numbers.error}


def largest_cell(matrix: np.ndarray, labels: Sequence[str], what: str = "weight") -> str:
    """Name the cell with the largest absolute value in a map (m, m); NaN is a gap. what: one of CELLS."""
    i, j = _largest(matrix)
    return f'Largest {what}: {CELLS[what](float(matrix[i, j]))}, from "{labels[i]}" to "{labels[j]}".'


def _largest(matrix: np.ndarray) -> tuple[int, int]:
    return divmod(int(np.nanargmax(np.abs(matrix))), len(matrix))
