"""Hiding every word of a pair, and all words x heads by gradient, beside forward passes of the pair."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from benchmarks.models import base_size, bundled, text
from benchmarks.table import Row, compare, size
from selfattn import Encoder
from selfattn.analysis.hiding import hidden_heads, hidden_pair
from selfattn.encoders.capture import run

TITLE = "Hiding words in two sentences"
COLUMNS = ("hidden", "one forward pass of each sentence")
PAIR = ("We sat on the bank of the river.", "We went to the bank for a loan.")
PASSES = 10  # of both sentences, at most


def main(small: bool = False) -> Iterator[Row]:
    """The first pair at two sizes, 128 tokens, and the peak at 512."""
    encoder = bundled()
    yield _row("the first pair: its words, and its heads by gradient", encoder, PAIR, 1 if small else 25, PASSES)
    if small:
        return
    heads = partial(hidden_heads, encoder, (PAIR[0], "bank"), "river", torch.ones(encoder.d_model))
    yield compare("72 heads of one of its words, each run", heads, partial(_passes, encoder, PAIR), 15)
    yield _row("two texts of 128 tokens: the eight words that lead", encoder, (text(128), text(127)), 7)
    large = replace(encoder, model=base_size(), n_layers=12, d_model=768, d_head=64)
    yield _row("base size, the first pair", large, PAIR, 7)
    Path("/proc/self/clear_refs").write_text("5")  # Linux counts the peak from now on
    before = _memory("VmRSS")
    _hidden(encoder, (text(512), text(511)))
    yield Row(
        "two texts of 512 tokens: peak memory above the loaded encoder", size(_memory("VmHWM") - before), "", None, 1
    )


def _row(what: str, encoder: Encoder, pair: tuple[str, str], rounds: int, bound: float | None = None) -> Row:
    return compare(what, partial(_hidden, encoder, pair), partial(_passes, encoder, pair), rounds, bound)


def _hidden(encoder: Encoder, pair: tuple[str, str]) -> None:
    hidden_pair(encoder, *(encoder.locate(sentence, "bank")[0] for sentence in pair))


def _passes(encoder: Encoder, pair: tuple[str, str]) -> None:
    with torch.no_grad():
        for sentence in pair:
            run(encoder.model, encoder.inputs([encoder.tokenize(sentence)]))


def _memory(field: str) -> int:
    return int(re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
