"""What attention weights, removed heads and recomputation do not show: a live counter-example for each.

Sources: Jain and Wallace 2019 (other weights, same output); Michel et al. 2019 (heads removed one at a time).
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
    """Other weights, the same context."""

    before: Tensor  # (n,)
    after: Tensor  # (n,)
    moved: float  # total variation between the two rows of weights, 0 to 1
    difference: float  # largest difference of the contexts


def same_output(weights: Tensor, values: Tensor) -> SameOutput:
    """Give the favourite of a row (n,) as little weight as can be, all at least 0, while the context stays put.

    values (n, d_value). There is room to move where n is more than d_value + 1, or values depend on one another: then
    a row of weights is one of many that give the very same context. Solved exactly, as a linear programme.
    """
    from scipy.optimize import linprog  # not at the top: the dashboard's first page would wait for it

    row, matrix = weights.double().numpy(), values.double().numpy()
    fixed = np.vstack([matrix.T, np.ones(len(row))])  # the context, and the sum of the weights
    favourite = np.zeros(len(row))
    favourite[row.argmax()] = 1
    solved = linprog(favourite, A_eq=fixed, b_eq=fixed @ row, bounds=(0, None))
    after = solved.x if solved.success else row
    moved = float(np.abs(after - row).sum()) / 2
    difference = float(np.abs((after - row) @ matrix).max())
    return SameOutput(weights, torch.from_numpy(after), moved, difference)


def freest_row(encoding: Encoding, position: int) -> tuple[Head, SameOutput]:
    """Over all heads, the row whose favourite can lose most weight: the head, and its two rows."""
    heads = [Head(*head) for head in np.ndindex(encoding.n_layers, encoding.n_heads)]
    traces = ((head, encoding.trace(*head)) for head in heads)
    rows = [(head, same_output(trace.weights[position], trace.value)) for head, trace in traces]
    return max(rows, key=lambda row: float(row[1].before.max() - row[1].after[row[1].before.argmax()]))


def noise_weights() -> tuple[Tensor, Tensor]:
    """The weights (n, n) of random queries and keys: the kernel's, and torch's own, which mixes the rows of an identity."""
    query, key = torch.randn(2, 8, 32, generator=torch.Generator().manual_seed(0))
    value = torch.eye(8)
    own = torch.nn.functional.scaled_dot_product_attention(query[None], key[None], value[None])[0]
    return attend(query, key, value).weights, own
