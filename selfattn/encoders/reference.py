"""The model's own attention weights, by its slow `eager` implementation, for the check of the kernel's weights.

Two ways: the family's eager function on the recorded inputs, and a separate pass of an eager twin.
"""

import copy
import sys
from collections.abc import Sequence
from inspect import signature

import torch
from torch import Tensor, nn

from selfattn.encoders.capture import EAGER, IMPLEMENTATION, LayerRecording, added


def own_weights(recording: LayerRecording, head: int | None = None, rows: slice = slice(None)) -> Tensor:
    """The weights by the model's own `eager` function on the recorded inputs: (n_heads, n, n), or (n, n) of one head.

    CPU float32. rows: of these queries alone. A hooked family has no such function: its module is called again.
    """
    if recording.arguments:
        return _by_the_module(recording)[slice(None) if head is None else head, rows]
    eager = sys.modules[type(recording.module).__module__].eager_attention_forward
    groups = getattr(recording.module, "num_key_value_groups", 1)  # the family's function repeats keys and values
    some = slice(None) if head is None or groups > 1 else slice(head, head + 1)
    mask = _queries(recording.mask, rows)
    mask = added(mask if mask is None or mask.shape[1] == 1 else mask[:, some], recording.query.dtype)
    query = recording.query[:, some, rows]
    key, value = (tensor[:, some][:, ::groups] for tensor in (recording.key, recording.value))
    (bias,) = recording.terms or (None,)  # T5's
    extra = {} if bias is None else {"position_bias": _queries(bias.values, rows)[:, some]}
    with torch.no_grad():
        _, weights = eager(recording.module, query, key, value, mask, scaling=recording.scale, dropout=0.0, **extra)
    if head is None:
        return weights[0].float().cpu()
    return weights[0, head if groups > 1 else 0].float().cpu()


def _by_the_module(recording: LayerRecording) -> Tensor:
    """(n_heads, n, n), CPU float32, from the attention module itself, called with its recorded arguments."""
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
    """A mask or bias cut to some queries, unless one row serves for all."""
    return mask if mask is None or mask.shape[-2] == 1 else mask[..., rows, :]


def eager_twin(model: nn.Module) -> nn.Module:
    """A copy of the modules, with the same parameters, under the slow `eager` attention that returns its weights.

    The loaded model's own implementation is never switched, because another thread would lose its recordings.
    """
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    twin = copy.deepcopy(model, shared)
    # Ours calls the family's own slow function, and hides tokens in it.
    twin.set_attn_implementation(EAGER if twin.config._attn_implementation == IMPLEMENTATION else "eager")
    return twin


def stack_layers(attentions: Sequence[Tensor], row: int, n: int) -> Tensor:
    """One sentence's weights (n_layers, n_heads, n, n), CPU float32, from a model's output for a batch."""
    return torch.stack([layer[row, :, :n, :n].float().cpu() for layer in attentions])
