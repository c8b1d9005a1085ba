"""Attention from scratch, with every step: softmax(Q K^T / sqrt(d_head)) V.

Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1 (scaled dot-product attention).
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from selfattn.kernel_inputs import Term, Terms, check_inputs
from selfattn.notebook_repr import OfSteps


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AttentionTrace(OfSteps):
    """Every step of one attention computation. Rows are queries, columns are keys."""

    query: Tensor  # (..., n_query, d_head)        what each token looks for
    key: Tensor  # (..., n_key, d_head)            what a query is compared with
    value: Tensor  # (..., n_key, d_value)         what each token passes on
    scores: Tensor  # (..., n_query, n_key)        query . key: how well each key fits each query
    scale: float  # a number                       by default 1 / sqrt(d_head), because scores grow with d_head
    scaled: Tensor  # (..., n_query, n_key)        scores * scale
    terms: Terms  # each (..., n_query, n_key)     numbers that some models add, such as a bias for the distance of two tokens
    mask: Tensor | None  # (..., n_query, n_key)   bool (True = may attend), or float (added to the scores)
    masked: Tensor  # (..., n_query, n_key)        scaled + terms + mask; -inf gets the weight 0
    maximum: Tensor  # (..., n_query, 1)           the largest number in each row of masked
    shifted: Tensor  # (..., n_query, n_key)       masked - maximum: 0 at most
    exponentials: Tensor  # (..., n_query, n_key)  e^shifted: 1 for the row's largest number, 0 for -inf
    total: Tensor  # (..., n_query, 1)             each row's sum of exponentials
    weights: Tensor  # (..., n_query, n_key)       exponentials / total: a row sums to 1; a fully masked row is all 0
    context: Tensor  # (..., n_query, d_value)     the values, averaged with the weights


def attend(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, scale: float | None = None, terms: Terms = ()
) -> AttentionTrace:
    """Compute attention for any batch of heads. Shapes: as in `AttentionTrace`.

    A fully masked row has weights 0 and context 0.
    For 16-bit inputs, each step is computed in float32, and rounded to 16 bits at the end.
    A step with a number too large for 16 bits stays in float32.
    Raises ValueError for inputs that don't fit together.
    """
    check_inputs(query, key, value, mask, scale, terms)
    if torch.finfo(query.dtype).bits == 16:  # float16's maximum is 65,504; a larger score would be infinite
        return rounded(attend(query.float(), key.float(), value.float(), mask, scale, terms), query.dtype)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    scores = query @ key.transpose(-2, -1)
    scaled = scores * scale
    masked = add_mask(scaled, mask, terms)  # -inf where a query may not attend, because e^-inf is 0
    # Softmax of each row. Subtracting the maximum keeps e^x from overflowing.
    maximum = masked.amax(dim=-1, keepdim=True)
    shifted = masked - maximum.clamp(min=torch.finfo(masked.dtype).min)  # avoid -inf - -inf in a fully masked row
    exponentials = shifted.exp()
    total = exponentials.sum(dim=-1, keepdim=True)
    weights = exponentials / total.clamp(min=1)  # avoid 0 / 0 in a fully masked row; other totals are at least 1
    context = weights @ value
    return AttentionTrace(**locals())  # locals() has all arguments and steps by name


def add_mask(scaled: Tensor, mask: Tensor | None, terms: Terms = ()) -> Tensor:
    """Add terms, such as a position bias, and the mask to the scaled scores. False in the mask gives the score -inf."""
    summed = sum((term.values for term in terms), start=scaled)
    if mask is not None and mask.dtype == torch.bool:
        return summed.masked_fill(~mask, -math.inf)
    # A mask of -1e9 gives the weight 0 too, except in a row of nothing but -1e9.
    # In float32, such a row gets equal weights, because adding -1e9 rounds the scores away.
    return summed if mask is None else summed + mask.to(summed.dtype)


def rounded(trace: AttentionTrace, dtype: torch.dtype) -> AttentionTrace:
    """Convert the trace's tensors to another dtype, except boolean masks.

    A tensor with a number too large for a 16-bit `dtype` stays unchanged.
    """

    def fit(step):
        if not isinstance(step, Tensor) or step.dtype == torch.bool:
            return step
        narrow = step.to(dtype)
        too_large = torch.finfo(dtype).bits == 16 and not torch.equal(narrow.isfinite(), step.isfinite())
        return step if too_large else narrow

    terms = [Term(term.name, fit(term.values)) for term in trace.terms]
    return AttentionTrace(**{name: fit(step) for name, step in vars(trace).items()} | {"terms": terms})
