"""Attention rollout: how attention passes information on through the layers, if attention were all that did.

Each layer is taken as half its attention, averaged over the heads, and half the identity (the residual stream); the
layers are multiplied up. Source: Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

from selfattn.encoders.encoding import Encoding


def head_average(encoding: Encoding, layer: int) -> Tensor:
    """The mean of a layer's attention weights over its heads, (n, n); rows still sum to 1."""
    return encoding.weights(layer).mean(0)


def rollout(layers: Iterable[Tensor]) -> Tensor:
    """Attention rollout after each layer, (n_layers, n, n), from the head averages (n, n) of the layers in order.

    Row i of layer l: how much of each input token is left in token i after layer l. Rows sum to 1.
    """
    rolled: list[Tensor] = []
    for average in layers:
        mixed = 0.5 * average + 0.5 * torch.eye(len(average), dtype=average.dtype)
        rolled.append(mixed @ rolled[-1] if rolled else mixed)
    return torch.stack(rolled)


def roll_out(encoding: Encoding) -> Tensor:
    """Attention rollout of one text after each layer, (n_layers, n, n)."""
    return rollout(head_average(encoding, layer) for layer in range(encoding.n_layers))
