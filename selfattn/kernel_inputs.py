"""Check the inputs of `selfattn.kernel.attend`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Term:
    """Numbers that a model adds to the scaled scores, such as a position bias."""

    name: str
    values: Tensor  # float, broadcasts to (..., n_query, n_key)


Terms = Sequence[Term]


def check_inputs(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float | None, terms: Terms
) -> None:
    """Raise ValueError if the inputs of `attend` don't fit together.

    query, key: (..., n_query, d_head), (..., n_key, d_head)
    value: (..., n_key, d_value)
    query, key and value share one floating-point dtype.
    mask, terms: broadcast to (..., n_query, n_key)
    """
    shapes = f"query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}"
    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise ValueError(f"Expected matrices of shape (..., n, d_head), got {shapes}. For one vector use vector[None].")
    if query.shape[-1] != key.shape[-1] or query.shape[-1] == 0:
        raise ValueError(f"query and key must have the same d_head (last dimension, at least 1), got {shapes}.")
    if key.shape[-2] != value.shape[-2] or key.shape[-2] == 0:
        raise ValueError(f"key and value need the same n_key (second to last dimension, at least 1), got {shapes}.")
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
            raise ValueError(
                f"The term {term.name!r} must be a float tensor that broadcasts to {tuple(wanted)}, got {got}."
            )
    if mask is None:
        return
    if mask.dtype != torch.bool and not mask.is_floating_point():
        raise ValueError(f"mask must be boolean (True = may attend) or float (added to the scores), got {mask.dtype}.")
    if not _broadcasts(mask, wanted):
        raise ValueError(
            f"mask {tuple(mask.shape)} doesn't broadcast to (..., n_query, n_key) {tuple(wanted)}; got {shapes}."
        )
    if mask.is_floating_point() and bool((mask.isnan() | (mask == math.inf)).any()):
        raise ValueError("A float mask must have only finite numbers and minus infinity, got NaN or plus infinity.")


def _broadcasts(tensor: Tensor, wanted: torch.Size) -> bool:
    try:
        return torch.broadcast_shapes(tensor.shape, wanted) == wanted
    except RuntimeError:
        return False
