"""What recording costs: one and the same call with and without a recorder."""

from collections.abc import Iterator

import torch
from torch import nn

from benchmarks.models import LENGTHS, base_size, bundled, ids
from benchmarks.table import Row, compare
from selfattn.encoders.capture import Recorder, run

TITLE = "A forward pass"
COLUMNS = ("with recorder", "bare")
PAIRS = 30
BOUND = 1.10


def main() -> Iterator[Row]:
    """One row a model and length."""
    for name, model in (("bundled", bundled().model), ("base size, random weights", base_size())):
        for n in LENGTHS:
            yield _row(f"{name}, {n} tokens", model, n)


def _row(what: str, model: nn.Module, n: int) -> Row:
    inputs = ids(n)

    def recorded():
        with torch.no_grad():
            return run(model, inputs, Recorder())

    def bare():
        with torch.no_grad():
            return model(**inputs)

    return compare(what, recorded, bare, PAIRS, BOUND)
