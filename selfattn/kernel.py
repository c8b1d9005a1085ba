"""Attention from scratch: softmax(Q K^T / sqrt(d_head)) V, with every step kept.

Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1 (scaled dot-product attention)."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from selfattn.kernel_inputs import Term, Terms, check_inputs
from selfattn.notebook_repr import OfSteps


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AttentionTrace(OfSteps):
    """Every step of one attention computation. Rows are queries ("from"), columns are keys ("to")."""

    query: Tensor  # (..., n_query, d_head)        what each token looks for
    key: Tensor  # (..., n_key, d_head)            what each token is filed under
    value: Tensor  # (..., n_key, d_value)         what each token hands over
    scores: Tensor  # (..., n_query, n_key)        query . key: how well each key fits each query
    scale: float  # a number                       1 / sqrt(d_head) unless given: longer vectors, larger scores
    scaled: Tensor  # (..., n_query, n_key)        scores * scale
    terms: Terms  # each (..., n_query, n_key)     none in most models; in some, a number for the distance of two tokens
    mask: Tensor | None  # (..., n_query, n_key)   bool: True = may attend; or float: added
    masked: Tensor  # (..., n_query, n_key)        scaled + terms + mask; minus infinity (-inf) gets the weight 0
    maximum: Tensor  # (..., n_query, 1)           the largest number of each row of masked
    shifted: Tensor  # (..., n_query, n_key)       masked - maximum: 0 at most
    exponentials: Tensor  # (..., n_query, n_key)  e^shifted: 1 for the largest, 0 for -inf
    total: Tensor  # (..., n_query, 1)             the sum of each row of exponentials
    weights: Tensor  # (..., n_query, n_key)       exponentials / total: a row sums to 1; a fully masked row is all 0
    context: Tensor  # (..., n_query, d_value)     the values, averaged with the weights


def attend(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, scale: float | None = None, terms: Terms = ()
) -> AttentionTrace:
    """Compute attention for one head or any batch of heads. A row that may attend to nothing has weights 0 and context 0.

    Every step has the inputs' dtype. 16-bit inputs are computed in float32, as models compute their softmax, and then each step
    is rounded; a step with a number too large for 16 bits stays float32. Raises ValueError for inputs that don't fit together.
    """
    check_inputs(query, key, value, mask, scale, terms)
    if torch.finfo(query.dtype).bits == 16:  # float16 ends at 65,504: a score above it would be infinite
        return rounded(attend(query.float(), key.float(), value.float(), mask, scale, terms), query.dtype)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    scores = query @ key.transpose(-2, -1)
    scaled = scores * scale
    masked = add_mask(scaled, mask, terms)  # -inf where a query may not attend: e^-inf is 0, so the weight is 0
    # Softmax, row by row. Subtracting the largest leaves the weights as they are, and e^x can't overflow.
    maximum = masked.amax(dim=-1, keepdim=True)
    shifted = masked - maximum.clamp(min=torch.finfo(masked.dtype).min)  # in a row of only -inf, -inf - -inf is NaN
    exponentials = shifted.exp()
    total = exponentials.sum(dim=-1, keepdim=True)
    weights = exponentials / total.clamp(min=1)  # in a row of only -inf, 0 / 0 is NaN; any other total is at least 1
    context = weights @ value
    return AttentionTrace(**locals())  # locals() is every name here with its value: the arguments and the steps


def add_mask(scaled: Tensor, mask: Tensor | None, terms: Terms = ()) -> Tensor:
    """Return the scaled scores plus the terms, with minus infinity where a query may not attend to a key."""
    summed = sum((term.values for term in terms), start=scaled)
    if mask is not None and mask.dtype == torch.bool:
        return summed.masked_fill(~mask, -math.inf)
    # A float mask of -1e9 gives the weight 0 too, except in a fully masked row: -1e9 is then the largest number and is
    # subtracted again. Float32 gives that row even weights (1e9 leaves no digits for a score), float64 those without a mask.
    return summed if mask is None else summed + mask.to(summed.dtype)


def rounded(trace: AttentionTrace, dtype: torch.dtype) -> AttentionTrace:
    """Convert the steps to another dtype, except a boolean mask and a step with a number too large for 16 bits."""

    def fit(step):
        if not isinstance(step, Tensor) or step.dtype == torch.bool:
            return step
        narrow = step.to(dtype)
        too_large = torch.finfo(dtype).bits == 16 and not torch.equal(narrow.isfinite(), step.isfinite())
        return step if too_large else narrow

    terms = [Term(term.name, fit(term.values)) for term in trace.terms]
    return AttentionTrace(**{name: fit(step) for name, step in vars(trace).items()} | {"terms": terms})
