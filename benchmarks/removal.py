"""Removing every head in turn: batched copies of the sentence, or one forward pass a head."""

from collections.abc import Iterator

import torch

from benchmarks.models import base_size, bundled, text
from benchmarks.table import Row, compare
from selfattn.encoders.capture import Patch, Recorder, run

TITLE = "Removing each head in turn"
COLUMNS = ("batched", "one pass a head")


def main() -> Iterator[Row]:
    """Two lengths at the bundled encoder, one at base size."""
    encoder = bundled()
    for n in (12, 48):
        sentence = text(n)
        yield compare(
            f"bundled, 72 heads, {n} tokens",
            lambda sentence=sentence: encoder.knock_out(sentence, 2),
            lambda sentence=sentence: _one_by_one(encoder.model, encoder.inputs([encoder.tokenize(sentence)]), 6),
            12,
        )
    yield _base(12)


def _base(n: int) -> Row:
    from dataclasses import replace

    from selfattn.encoders.loading import IMPLEMENTATION

    model = base_size(IMPLEMENTATION)
    encoder = replace(bundled(), model=model, n_layers=12, d_model=768, d_head=64)
    sentence = text(n)
    inputs = encoder.inputs([encoder.tokenize(sentence)])
    return compare(
        f"base size, 144 heads, {n} tokens",
        lambda: encoder.knock_out(sentence, 2),
        lambda: _one_by_one(model, inputs, 12),
        5,
    )


def _one_by_one(model, inputs, n_layers: int) -> torch.Tensor:
    vectors = []
    for layer in range(n_layers):
        for head in range(12):
            with torch.no_grad():
                zeros = torch.zeros(model.config.hidden_size // 12)
                recorder = Recorder([[Patch(layer, head, None, zeros)]], keep=False)
                vectors.append(run(model, inputs, recorder).last_hidden_state[0, 2])
    return torch.stack(vectors)
