"""Recompute a head's attention with a change, such as another mask."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from selfattn.encoders.precision import attend_precisely
from selfattn.kernel import AttentionTrace, add_mask, rounded
from selfattn.kernel_inputs import Term


def change(
    trace: AttentionTrace,
    *,
    scaling: bool = True,
    causal: bool = False,
    temperature: float = 1.0,
    uniform: bool = False,
) -> AttentionTrace:
    """Recompute one head's trace with all the given changes.

    scaling: False leaves the scores unscaled. causal: True hides later tokens. uniform: True gives equal weights.
    temperature: divides the scores; higher values make the weights more equal. Raises ValueError unless `temperature` is above 0.
    """
    if not temperature > 0:
        raise ValueError(f"temperature must be above 0, got {temperature}. Near 0, the largest score gets weight 1.")
    if (scaling, causal, temperature, uniform) == (True, False, 1.0, False):
        return trace  # a new computation could change the last digit
    mask = trace.mask
    if causal:
        mask = combine(mask, causal_mask(len(trace.query)))
    if uniform:  # equal scores for all keys
        allowed = None if mask is None else mask if mask.dtype == torch.bool else mask > -math.inf
        made = attend_precisely(torch.zeros_like(trace.query), trace.key, trace.value, allowed, trace.scale)
        return rounded(made, torch.float32)
    if mask is not None and mask.dtype != torch.bool:
        mask = mask / temperature
    scale = (trace.scale if scaling else 1.0) / temperature
    terms = [Term(term.name, term.values / temperature) for term in trace.terms]
    made = attend_precisely(trace.query, trace.key, trace.value, mask, scale, terms)
    return rounded(made, torch.float32)


def causal_mask(n: int) -> Tensor:
    """Return the causal mask: (n, n) bool, in row i True for columns 0 to i."""
    return torch.ones(n, n, dtype=torch.bool).tril()


def combine(mask: Tensor | None, allowed: Tensor) -> Tensor:
    """Combine a head's mask with `allowed`: (n, n) bool, False where query i may not attend to key j."""
    if mask is None:
        return allowed
    return mask & allowed if mask.dtype == torch.bool else add_mask(mask, allowed)


@dataclass(frozen=True, eq=False, kw_only=True)
class Masking:
    """One way to hide tokens, and its result."""

    name: str
    weights: Tensor  # (n, n)
    leaked: Tensor  # (n,): each row's weight on hidden tokens


def four_ways(trace: AttentionTrace, allowed: Tensor) -> tuple[Masking, ...]:
    """Hide tokens in four ways, and return the weights that result from each. allowed: (n, n), False for hidden tokens.

    1. Add minus infinity to the scores, as `attend` does.
    2. Multiply the hidden tokens' scores by 0: these tokens keep weight (e^0 = 1).
    3. Multiply the hidden tokens' weights by 0: rows no longer sum to 1.
    4. As in 3, then divide each row by its sum: the weights are the same as in 1.
    """
    trace = rounded(trace, torch.float32)
    mask = combine(trace.mask, allowed)
    added = attend_precisely(trace.query, trace.key, trace.value, mask, trace.scale, trace.terms).weights.float()
    zeroed = trace.weights * allowed
    total = zeroed.sum(-1, keepdim=True)
    times_0 = add_mask(add_mask(trace.scaled, None, trace.terms) * allowed, trace.mask).softmax(-1).nan_to_num(0.0)
    ways = (
        ("add −∞ to the scores", added),
        ("multiply the scores by 0", times_0),
        ("multiply the weights by 0", zeroed),
        ("… and divide by the row's sum", zeroed / total.masked_fill(total == 0, 1.0)),
    )
    return tuple(Masking(name=name, weights=w, leaked=(w * ~allowed).sum(-1)) for name, w in ways)
