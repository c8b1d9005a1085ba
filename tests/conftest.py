"""What the tests share: the bundled encoder, loaded once."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # no test may reach for a network by accident

import pytest
import torch

from selfattn import Encoder, load_encoder

torch.set_num_threads(1)  # the tests run side by side: a second thread in each only gets in the others' way


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    """The bundled encoder."""
    return load_encoder(device="cpu")
