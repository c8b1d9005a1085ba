"""Compute the model's own attention weights with its slow `eager` code."""

import copy
import sys
from collections.abc import Sequence
from inspect import signature

import torch
from torch import Tensor, nn

from selfattn.encoders.capture import EAGER, IMPLEMENTATION, LayerRecording, added


def own_weights(recording: LayerRecording, head: int | None = None, rows: slice = slice(None)) -> Tensor:
    """Compute attention weights with the model's `eager` function: (n_heads, n, n), or (n, n) for one head.

    rows: compute the weights of only these queries
    """
    if recording.arguments:
        return _by_the_module(recording)[slice(None) if head is None else head, rows]
    eager = sys.modules[type(recording.module).__module__].eager_attention_forward
    groups = getattr(recording.module, "num_key_value_groups", 1)  # the family's function repeats keys and values
    heads = slice(None) if head is None or groups > 1 else slice(head, head + 1)
    mask = _queries(recording.mask, rows)
    mask = added(mask if mask is None or mask.shape[1] == 1 else mask[:, heads], recording.query.dtype)
    query = recording.query[:, heads, rows]
    key, value = (tensor[:, heads][:, ::groups] for tensor in (recording.key, recording.value))
    (bias,) = recording.terms or (None,)  # T5's position bias
    extra = {} if bias is None else {"position_bias": _queries(bias.values, rows)[:, heads]}
    with torch.no_grad():
        _, weights = eager(recording.module, query, key, value, mask, scaling=recording.scale, dropout=0.0, **extra)
    if head is None:
        return weights[0].float().cpu()
    return weights[0, head if groups > 1 else 0].float().cpu()


def _by_the_module(recording: LayerRecording) -> Tensor:
    """Call the attention module again. Return its attention weights: (n_heads, n, n)."""
    wanted = signature(recording.module.forward).parameters
    given = {name: None for name, parameter in wanted.items() if parameter.default is parameter.empty}
    given |= recording.arguments
    if "output_attentions" in wanted:
        given["output_attentions"] = True
    given.pop("kwargs", None)
    with torch.no_grad():
        outputs = recording.module(**given)
    return next(each for each in outputs if isinstance(each, Tensor) and each.dim() == 4)[0].float().cpu()


def _queries(mask: Tensor | None, rows: slice) -> Tensor | None:
    """Return the rows of a mask or bias for the queries `rows`. A single row for all queries is returned as it is."""
    return mask if mask is None or mask.shape[-2] == 1 else mask[..., rows, :]


def eager_twin(model: nn.Module) -> nn.Module:
    """Return an eager copy that shares the model's parameters and buffers."""
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    twin = copy.deepcopy(model, shared)
    # EAGER masks the tokens that `Recorder.hide` hides; transformers' "eager" doesn't mask them.
    twin.set_attn_implementation(EAGER if twin.config._attn_implementation == IMPLEMENTATION else "eager")
    return twin


def stack_layers(attentions: Sequence[Tensor], row: int, n: int) -> Tensor:
    """Stack one sentence's attention weights of all layers: (n_layers, n_heads, n, n)."""
    return torch.stack([layer[row, :, :n, :n].float().cpu() for layer in attentions])
