"""Find different attention weights with the same output, and compute random attention weights.

Sources: Jain and Wallace 2019; Michel et al. 2019.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from selfattn.encoders.capture import Head
from selfattn.encoders.encoding import Encoding
from selfattn.kernel import attend


@dataclass(frozen=True, eq=False)
class SameOutput:
    """Two rows of weights that give the same context."""

    before: Tensor  # (n,) the head's weights
    after: Tensor  # (n,) other weights with the same context
    moved: float  # total variation between the two rows of weights, 0 to 1
    difference: float  # largest difference of the contexts


def same_output(weights: Tensor, values: Tensor) -> SameOutput:
    """Make a row's largest weight as small as possible without changing the context.

    weights (n,), values (n, d_value)
    Other weights with the same context exist if n > d_value + 1, or if the values are linearly dependent.
    """
    from scipy.optimize import linprog  # imported late, because it loads slowly

    row, matrix = weights.double().numpy(), values.double().numpy()
    fixed = np.vstack([matrix.T, np.ones(len(row))])  # the context, and the sum of the weights
    largest = np.zeros(len(row))
    largest[row.argmax()] = 1
    solved = linprog(largest, A_eq=fixed, b_eq=fixed @ row, bounds=(0, None))
    after = solved.x if solved.success else row
    moved = float(np.abs(after - row).sum()) / 2
    difference = float(np.abs((after - row) @ matrix).max())
    return SameOutput(weights, torch.from_numpy(after), moved, difference)


def freest_row(encoding: Encoding, position: int) -> tuple[Head, SameOutput]:
    """Return the head whose largest weight in row `position` can be lowered most without changing the row's weights @ values."""
    heads = [Head(*head) for head in np.ndindex(encoding.n_layers, encoding.n_heads)]
    traces = ((head, encoding.trace(*head)) for head in heads)
    rows = [(head, same_output(trace.weights[position], trace.value)) for head, trace in traces]
    return max(rows, key=lambda row: float(row[1].before.max() - row[1].after[row[1].before.argmax()]))


def noise_weights() -> tuple[Tensor, Tensor]:
    """Compute attention weights (8, 8) for random queries and keys, by `attend` and by torch."""
    query, key = torch.randn(2, 8, 32, generator=torch.Generator().manual_seed(0))
    value = torch.eye(8)  # torch returns only contexts, which equal weights for these values
    own = torch.nn.functional.scaled_dot_product_attention(query[None], key[None], value[None])[0]
    return attend(query, key, value).weights, own
