"""Make a baseline encoder with random parameters."""

import copy
from dataclasses import replace

import torch

from selfattn.encoders.encoder import Encoder
from selfattn.encoders.hooks import install


def random_twin(encoder: Encoder, seed: int = 0) -> Encoder:
    """Return a copy of the encoder with random parameters. Torch's random state doesn't change."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would seed the GPU too
        model = type(encoder.model)(copy.deepcopy(encoder.model.config))
    model = model.to(encoder.device, encoder.model.dtype).eval().requires_grad_(False)
    if encoder.hooked:
        install(model, encoder.n_heads)
    name, configuration = f"{encoder.name}, random weights", f"{encoder.configuration}, seed {seed}"
    return replace(encoder, name=name, model=model, digest="", configuration=configuration)
