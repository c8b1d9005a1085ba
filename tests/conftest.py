"""What the tests share: the bundled encoder, loaded once."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # no test may reach for a network by accident

import pytest

from selfattn import Encoder, load_encoder


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    """The bundled encoder."""
    return load_encoder(device="cpu")
