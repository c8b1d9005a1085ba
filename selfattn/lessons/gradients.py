"""Learned, not ruled: every weight has a gradient with respect to Q and K, and that is all training needs.

Source: Rumelhart, Hinton and Williams 1986 (learning by propagating errors back); here through `selfattn.kernel`, by
torch's autograd.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import torch
from torch import Tensor

from selfattn.kernel import attend
from selfattn.lessons import typed_numbers, worked_example


@dataclass(frozen=True, eq=False)
class WeightGradient:
    """How one weight answers to each number of the query and of the keys."""

    weight: float
    query: Tensor  # (d_head,) d weight / d query
    keys: Tensor  # (n, d_head) d weight / d key


def weight_gradient(
    target: int, query: Sequence[float] = worked_example.QUERY, keys: Sequence[Sequence[float]] = worked_example.KEYS
) -> WeightGradient:
    """The gradient of the weight on key `target` (counted from 0)."""
    key = typed_numbers.matrix("Keys", keys).requires_grad_()
    wanted = typed_numbers.vector("Query", query, key.shape[1]).requires_grad_()
    typed_numbers.number("Target", target, 0, len(key) - 1)
    weight = attend(wanted[None], key, key).weights[0, target]
    for_query, for_keys = torch.autograd.grad(weight, (wanted, key))
    return WeightGradient(float(weight.detach()), for_query, for_keys)


def learn(target: int, n_steps: int, rate: float) -> pd.DataFrame:
    """Nudge the worked example's query and keys along the gradient of log(weight on `target`), n_steps times.

    One row a step and word: step, position, token, weight. The logarithm is what a cross-entropy loss would follow.
    """
    typed_numbers.number("Steps", n_steps, 0, 1000)
    typed_numbers.number("Learning rate", rate, 0, 10)
    wanted = typed_numbers.vector("Query", worked_example.QUERY)
    key = typed_numbers.matrix("Keys", worked_example.KEYS)
    rows = []
    for step in range(n_steps + 1):
        weights = attend(wanted[None], key, key).weights[0].tolist()
        rows += [(step, at, token, weight) for at, (token, weight) in enumerate(zip(worked_example.TOKENS, weights))]
        gradient = weight_gradient(target, wanted.tolist(), key.tolist())
        # d log(weight) = d weight / weight; a weight of 0 to the last bit has no direction to go.
        share = rate / gradient.weight if gradient.weight > 0 else 0.0
        wanted, key = wanted + share * gradient.query, key + share * gradient.keys
    return pd.DataFrame(rows, columns=["step", "position", "token", "weight"])
