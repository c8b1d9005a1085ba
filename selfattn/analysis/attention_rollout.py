"""Attention rollout: how attention passes information on through the layers, if attention were all that did.

Each layer is taken as half its attention, averaged over the heads, and half the identity (the residual stream); the
layers are multiplied up. Source: Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3.
"""

import torch
from torch import Tensor

from selfattn.encoders.encoding import Encoding


def head_average(encoding: Encoding, layer: int) -> Tensor:
    """The mean of a layer's attention weights over its heads, (n, n); rows still sum to 1."""
    return encoding.weights(layer).mean(0)


def rollout(encoding: Encoding) -> Tensor:
    """Attention rollout of one text after each layer, (n_layers, n, n).

    Row i of layer l: how much of each input token is left in token i after layer l. Rows sum to 1.
    """
    passed_on = torch.eye(len(encoding.tokens))
    layers = []
    for layer in range(encoding.n_layers):
        passed_on = 0.5 * head_average(encoding, layer) @ passed_on + 0.5 * passed_on
        layers.append(passed_on)
    return torch.stack(layers)
