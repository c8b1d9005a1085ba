"""Self-attention from scratch: softmax(Q K^T / sqrt(d_head)) V in plain tensor arithmetic, every step kept.

Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1 (scaled dot-product attention).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from selfattn.notebook_repr import html_table

DOUBLE = 2**24  # weights: 134 MB for each step


@dataclass(frozen=True, eq=False)
class Term:
    """What a family adds to the scaled scores: a learned number for the distance between two tokens, say."""

    name: str
    values: Tensor  # broadcast to (..., n_query, n_key)


Terms = Sequence[Term]


@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionTrace:
    """Every step of one attention computation. Rows are queries ("from"), columns are keys ("to")."""

    query: Tensor  # (..., n_query, d_head)    what each token looks for
    key: Tensor  # (..., n_key, d_head)        what each token is filed under
    value: Tensor  # (..., n_key, d_value)     what each token hands over
    scores: Tensor  # (..., n_query, n_key)    query . key
    scaled: Tensor  # (..., n_query, n_key)    scores * scale
    terms: tuple[Term, ...]  # what is added to them; empty in most families
    mask: Tensor | None  # bool (True = may attend) or float (added), broadcast to (..., n_query, n_key)
    scale: float  # 1 / sqrt(d_head) unless given
    masked: Tensor  # (..., n_query, n_key)    scaled, with the terms and the mask added
    maximum: Tensor  # (..., n_query, 1)       the row's largest; minus infinity if masked whole
    shifted: Tensor  # (..., n_query, n_key)   masked - maximum: 0 at most
    powers: Tensor  # (..., n_query, n_key)    exp(shifted): 0 to 1
    total: Tensor  # (..., n_query, 1)         the row's powers, summed
    weights: Tensor  # (..., n_query, n_key)   powers / total: each row sums to 1, or to 0 if masked whole
    context: Tensor  # (..., n_query, d_value) the values, averaged with the weights

    def __repr__(self) -> str:
        n_query, n_key = self.weights.shape[-2:]
        heads = "".join(f"{n} x " for n in self.weights.shape[:-2])
        return f"<AttentionTrace: {heads}{n_query} queries x {n_key} keys, d_head {self.query.shape[-1]}>"

    def _repr_html_(self) -> str:
        steps = {name: step for name, step in vars(self).items() if isinstance(step, Tensor)}
        return html_table(repr(self)[1:-1], [(name, " x ".join(map(str, step.shape))) for name, step in steps.items()])

    def float(self) -> "AttentionTrace":
        """The same steps in single precision; a boolean mask stays one."""
        steps = {
            name: step for name, step in vars(self).items() if isinstance(step, Tensor) and step.dtype != torch.bool
        }
        terms = tuple(Term(term.name, term.values.float()) for term in self.terms)
        return replace(self, **{name: step.float() for name, step in steps.items()}, terms=terms)


def attend(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, scale: float | None = None, terms: Terms = ()
) -> AttentionTrace:
    """Scaled dot-product attention for one head or any batch of heads, with every step kept.

    query (..., n_query, d_head), key (..., n_key, d_head) and value (..., n_key, d_value) are floating-point tensors
    of one dtype, which is kept. mask is boolean (True = may attend) or float (added to the scaled scores) and
    broadcasts to (..., n_query, n_key). scale multiplies the scores: 1 / sqrt(d_head) unless given. terms are added to the
    scaled scores, before the mask.
    A row that may attend to nothing has weights 0 and context 0, never NaN.

    Raises ValueError, naming the shapes or dtypes, where the inputs don't fit together.
    """
    _check(query, key, value, mask, scale, terms)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    scores = query @ key.transpose(-2, -1)
    scaled = scores * scale
    masked = add_mask(scaled, mask, terms)
    maximum = masked.amax(dim=-1, keepdim=True)
    shifted = masked - maximum.masked_fill(maximum == -math.inf, 0.0)  # 0 at most, so that exp cannot overflow
    powers = shifted.exp()
    total = powers.sum(dim=-1, keepdim=True)
    weights = powers / total.masked_fill(total == 0, 1.0)  # a row masked whole has no powers
    context = weights @ value
    return AttentionTrace(
        query=query, key=key, value=value, scores=scores, scaled=scaled, terms=tuple(terms), mask=mask,
        scale=scale, masked=masked, maximum=maximum, shifted=shifted, powers=powers, total=total, weights=weights,
        context=context,
    )  # fmt: skip


def attend_precisely(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, scale: float | None = None, terms: Terms = ()
) -> AttentionTrace:
    """`attend` in double precision: the kernel adds no rounding of its own to what a model did (see `precision`)."""
    dtype = precision(query, key)
    terms = [Term(term.name, term.values.to(dtype)) for term in terms]
    return attend(query.to(dtype), key.to(dtype), value.to(dtype), mask, scale, terms)


def precision(query: Tensor, key: Tensor) -> torch.dtype:
    """Double; above DOUBLE weights single, because the steps would fill the memory."""
    n_weights = math.prod(query.shape[:-1]) * key.shape[-2]
    return torch.float64 if n_weights <= DOUBLE else torch.float32


def add_mask(scaled: Tensor, mask: Tensor | None, terms: Terms = ()) -> Tensor:
    """The scaled scores (..., n_query, n_key) with the terms, and minus infinity where a key may not be attended to."""
    summed = sum((term.values for term in terms), start=scaled)
    if mask is None:
        return summed
    if mask.dtype == torch.bool:
        return summed.masked_fill(~mask, -math.inf)
    return summed + mask.to(summed.dtype)


def content_to_position(query: Tensor, positions: Tensor, distance: Tensor, scale: float) -> Tensor:
    """Each query times the learned vector of its distance to each key: [i, j] = query[i] . positions[distance[i, j]].

    query (..., n_query, d_head), positions (..., n_distances, d_head), distance (..., n_query, n_key) whole numbers from 0:
    (..., n_query, n_key). Source: He et al. 2021, "DeBERTa", equation 4; so `position_to_content`.
    """
    products = query @ positions.transpose(-2, -1)  # (..., n_query, n_distances)
    return products.gather(-1, distance.expand(*products.shape[:-2], *distance.shape[-2:])) * scale


def position_to_content(key: Tensor, positions: Tensor, distance: Tensor, scale: float) -> Tensor:
    """Each key times the learned vector of its distance to each query: [i, j] = key[j] . positions[distance[i, j]]."""
    products = positions @ key.transpose(-2, -1)  # (..., n_distances, n_key)
    return products.gather(-2, distance.expand(*products.shape[:-2], *distance.shape[-2:])) * scale


def _check(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float | None, terms: Terms) -> None:
    shapes = f"query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}"
    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise ValueError(f"Expected matrices of shape (..., n, d_head), got {shapes}. For one vector use vector[None].")
    if query.shape[-1] != key.shape[-1] or query.shape[-1] == 0:
        raise ValueError(f"query and key must have the same d_head (last dimension, at least 1), got {shapes}.")
    if key.shape[-2] != value.shape[-2] or key.shape[-2] == 0:
        raise ValueError(f"Each key needs one value (second to last dimension, at least 1), got {shapes}.")
    dtypes = {query.dtype, key.dtype, value.dtype}
    if len(dtypes) > 1 or not query.is_floating_point():
        got = f"{query.dtype}, {key.dtype}, {value.dtype}"
        raise ValueError(f"query, key, value must share one floating-point dtype, got {got}. Convert with .float().")
    try:
        batch = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    except RuntimeError:
        raise ValueError(f"The leading (batch, head) dimensions don't broadcast: {shapes}.") from None
    if scale is not None and not math.isfinite(scale):
        raise ValueError(f"scale must be a finite number, got {scale}.")
    wanted = torch.Size((*batch, query.shape[-2], key.shape[-2]))
    for term in terms:
        if not term.values.is_floating_point() or not _broadcasts(term.values, wanted):
            got = f"{term.values.dtype} {tuple(term.values.shape)}"
            raise ValueError(f"The term {term.name!r} must be of floats that broadcast to {tuple(wanted)}, got {got}.")
    if mask is None:
        return
    if mask.dtype != torch.bool and not mask.is_floating_point():
        raise ValueError(f"mask must be boolean (True = may attend) or float (added to the scores), got {mask.dtype}.")
    if not _broadcasts(mask, wanted):
        raise ValueError(
            f"mask {tuple(mask.shape)} doesn't broadcast to (..., n_query, n_key) {tuple(wanted)}; got {shapes}."
        )
    if mask.is_floating_point() and bool((mask.isnan() | (mask == math.inf)).any()):
        raise ValueError("A float mask holds finite numbers or minus infinity; this one holds NaN or plus infinity.")


def _broadcasts(tensor: Tensor, wanted: torch.Size) -> bool:
    try:
        return torch.broadcast_shapes(tensor.shape, wanted) == wanted
    except RuntimeError:
        return False
