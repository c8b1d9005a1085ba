"""Run a sentence and copies of it, with hidden tokens or changed heads, in one pass.

Each copy is added to the batch at its first layer with a hidden token or a changed head.
The last layer may compute only the positions of one word.
"""

import threading
from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor, cat, nn, tensor

from selfattn.encoders.capture import current_recorder

_installing = threading.Lock()


def install(model: nn.Module, attention: Iterable[nn.Module]) -> None:
    """Put hooks on attention modules and on the layers around them, unless the hooks are there already."""
    names = {module: name for name, module in model.named_modules()}
    with _installing:
        for module in attention:
            layer = _layer_around(model, names[module])
            if layer is not None and _join not in layer._forward_pre_hooks.values():
                layer.register_forward_pre_hook(_join, with_kwargs=True)
                layer.register_forward_hook(_join_after, with_kwargs=True)
                module.register_forward_pre_hook(_widen, with_kwargs=True, prepend=True)  # before the hooks that record
                module.register_forward_hook(_narrow)


def _layer_around(model: nn.Module, name: str) -> nn.Module | None:
    """Return the layer that contains the module `name`, or None."""
    parts = name.split(".")
    for end in range(len(parts) - 1, 0, -1):
        if isinstance(model.get_submodule(".".join(parts[: end - 1])), nn.ModuleList):
            return model.get_submodule(".".join(parts[:end]))
    return None


Given = tuple[tuple, dict[str, Any]]


def _join(layer: nn.Module, args: tuple, kwargs: dict[str, Any] | None = None) -> Given | None:
    recorder = current_recorder()
    if recorder is None or recorder.first:
        return None
    count = 0 if recorder.after else recorder.joins.count(recorder.n_calls)
    rows = recorder.rows if recorder.n_calls == recorder.last else None
    if not count and rows is None and not recorder.after:
        return None

    def changed(states: Tensor) -> Tensor:
        recorder.read = states[:1]
        states = cat([states, states[:1].expand(count, -1, -1)]) if count else states
        if rows is None:
            return states
        recorder.whole = states
        return states[:, rows]

    return _with_states(args, kwargs, changed)


def _join_after(layer: nn.Module, args: tuple, kwargs: dict[str, Any], output: Any) -> Any:
    """Run this layer again for each sentence copy whose first change is in this layer.

    A change hides a token or alters a head. Only the positions `recorder.rows` are computed again.
    """
    recorder = current_recorder()
    if (
        recorder is None
        or recorder.first
        or not (count := recorder.after and recorder.joins.count(recorder.n_calls - 1))
    ):
        return None
    rows, states = recorder.rows, output[0] if isinstance(output, tuple) else output
    recorder.first, recorder.n_calls = len(states), recorder.n_calls - 1
    recorder.whole = recorder.read.expand(count, -1, -1)
    args, kwargs = _with_states(args, kwargs, lambda _: recorder.whole[:, rows])
    joined = layer(*args, **kwargs)
    recorder.first, joined = 0, joined[0] if isinstance(joined, tuple) else joined
    if states.shape[1] > len(rows):
        joined = states[:1].repeat(count, 1, 1).index_copy(1, tensor(rows, device=joined.device), joined)
    states = cat([states, joined])
    return (states, *output[1:]) if isinstance(output, tuple) else states


def _widen(attention: nn.Module, args: tuple, kwargs: dict[str, Any] | None = None) -> Given | None:
    """Let the attention read all tokens, not only those in `recorder.rows`."""
    whole = getattr(current_recorder(), "whole", None)
    return None if whole is None else _with_states(args, kwargs, lambda _: whole)


def _narrow(attention: nn.Module, args: tuple, output: Any) -> Any:
    recorder = current_recorder()
    if recorder is None or recorder.whole is None:
        return None
    recorder.whole, rows = None, recorder.rows
    return (output[0][:, rows], *output[1:]) if isinstance(output, tuple) else output[:, rows]


def _with_states(args: tuple, kwargs: dict[str, Any] | None, change: Callable[[Tensor], Tensor]) -> Given | None:
    """Apply `change` to the hidden states: the first argument of shape (batch, n, d_model)."""
    args, kwargs = list(args), dict(kwargs or {})
    for given, keys in ((args, range(len(args))), (kwargs, kwargs)):
        for key in keys:
            if isinstance(given[key], Tensor) and given[key].dim() == 3:
                given[key] = change(given[key])
                return tuple(args), kwargs
    return None
