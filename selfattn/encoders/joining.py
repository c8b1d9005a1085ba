"""Copies of a sentence join its pass at the layer where each first differs from it: the layers before run once for all.

A hook on each layer of the model, by the recorder of the pass. Families whose modules have no such layer are run in the plain
way: `Encoder.joinable` tries it.
"""

import threading
from collections.abc import Iterable
from typing import Any

from torch import Tensor, cat, nn

from selfattn.encoders.capture import current_recorder

_installing = threading.Lock()


def install(model: nn.Module, attention: Iterable[nn.Module]) -> None:
    """Put a hook on the layers around these attention modules, once a layer."""
    names = {module: name for name, module in model.named_modules()}
    with _installing:
        for module in attention:
            layer = _layer_around(model, names[module])
            if layer is not None and _join not in layer._forward_pre_hooks.values():
                layer.register_forward_pre_hook(_join, with_kwargs=True)


def _layer_around(model: nn.Module, name: str) -> nn.Module | None:
    """The nearest module around the named one that is an element of a list."""
    parts = name.split(".")
    for end in range(len(parts) - 1, 0, -1):
        if isinstance(model.get_submodule(".".join(parts[: end - 1])), nn.ModuleList):
            return model.get_submodule(".".join(parts[:end]))
    return None


def _join(layer: nn.Module, args: tuple, kwargs: dict[str, Any] | None = None) -> tuple[tuple, dict[str, Any]] | None:
    """Add the copies that join here to the layer's input (batch, n, d_model), each as the sentence's own row."""
    recorder = current_recorder()
    count = 0 if recorder is None else recorder.joining()
    if not count:
        return None
    args, kwargs = list(args), dict(kwargs or {})
    for given, keys in ((args, range(len(args))), (kwargs, kwargs)):
        for key in keys:
            if isinstance(given[key], Tensor) and given[key].dim() == 3:
                given[key] = cat([given[key], given[key][:1].expand(count, -1, -1)])
                return tuple(args), kwargs
    return None
