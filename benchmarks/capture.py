"""The cost of recording: a forward pass with a recorder, beside the same pass without."""

from collections.abc import Iterator

import torch
from torch import nn

from benchmarks.models import LENGTHS, base_size, bundled, ids
from benchmarks.table import Row, compare
from selfattn.encoders.capture import Recorder, run

TITLE = "A forward pass"
COLUMNS = ("with recorder", "bare")
ROUNDS = 30
BOUND = 1.10


def main(small: bool = False) -> Iterator[Row]:
    """One row a model and length."""
    models = {"bundled": lambda: bundled().model, "base size, random weights": base_size}
    for name in [*models][: 1 if small else None]:
        model = models[name]()
        for n in LENGTHS[: 1 if small else None]:
            yield _row(f"{name}, {n} tokens", model, n, 1 if small else ROUNDS)


def _row(what: str, model: nn.Module, n: int, rounds: int) -> Row:
    inputs = ids(n)

    def recorded():
        with torch.no_grad():
            return run(model, inputs, Recorder())

    def bare():
        with torch.no_grad():
            return model(**inputs)

    return compare(what, recorded, bare, rounds, BOUND)
