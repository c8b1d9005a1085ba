"""A tiny random checkpoint of every family, saved to a folder and loaded like a visitor's own."""

from functools import cache

import pytest

from selfattn import load_encoder
from selfattn.tiny import FAMILIES, save_tiny


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory):
    """checkpoint("BERT") is the folder of a tiny BERT; each is written once."""

    @cache
    def folder(name: str):
        return save_tiny(FAMILIES[name], tmp_path_factory.mktemp("checkpoints") / FAMILIES[name].model_type)

    return folder


@pytest.fixture(scope="session")
def encoder_of(checkpoint):
    """encoder_of("BERT") is that checkpoint, loaded once."""

    @cache
    def encoder(name: str):
        return load_encoder(str(checkpoint(name)))

    return encoder
