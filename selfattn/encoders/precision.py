"""Run selfattn's kernel (`attend`) in double precision."""

import math

import torch
from torch import Tensor

from selfattn.kernel import AttentionTrace, attend
from selfattn.kernel_inputs import Term, Terms

MOST_IN_DOUBLE = 2**24  # weights in float64: 134 MB a step


def attend_precisely(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, scale: float | None = None, terms: Terms = ()
) -> AttentionTrace:
    """Run `attend` in the dtype that `precision` returns."""
    dtype = precision(query, key)
    terms = [Term(term.name, term.values.to(dtype)) for term in terms]
    return attend(query.to(dtype), key.to(dtype), value.to(dtype), mask, scale, terms)


def precision(query: Tensor, key: Tensor) -> torch.dtype:
    """Return float64, or float32 for more than MOST_IN_DOUBLE attention weights."""
    n_weights = math.prod(query.shape[:-1]) * key.shape[-2]
    return torch.float64 if n_weights <= MOST_IN_DOUBLE else torch.float32
