"""Compare the time of recording attention, and of hiding words, with that of plain forward passes."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from benchmarks.models import base_size, bundled, ids, text
from benchmarks.table import Row, compare, size
from selfattn import Encoder
from selfattn.analysis.hiding import hidden_heads, hidden_pair
from selfattn.encoders.capture import Recorder, run

TITLE = "Recording attention, and hiding words in two sentences"
COLUMNS = ("selfattn", "reference: one plain pass per sentence")
PAIR = ("We sat on the bank of the river.", "We went to the bank for a loan.")
PASSES = 10  # limit on hiding, in plain passes
RECORDED = 1.10  # limit on recording, in plain passes


def main(small: bool = False) -> Iterator[Row]:
    encoder = bundled()
    for n in (16, 512):
        recorded, bare = partial(_pass, encoder, n, Recorder), partial(_pass, encoder, n, lambda: None)
        yield compare(f"forward pass that records attention, {n} tokens", recorded, bare, 1 if small else 30, RECORDED)
    yield _row("hide each word of the first example", encoder, PAIR, 1 if small else 25, PASSES)
    if small:
        return
    heads = partial(hidden_heads, encoder, (PAIR[0], "bank"), "river", torch.ones(encoder.d_model))
    what = 'hide "river" of the first example in each of the 72 heads'
    yield compare(what, heads, partial(_passes, encoder, PAIR), 15)
    what = "hide the eight words with the largest estimated effects, in each of two texts of 128 tokens"
    yield _row(what, encoder, (text(128), text(127)), 7)
    large = replace(encoder, model=base_size(), n_layers=12, d_model=768, d_head=64)
    yield _row("hide each word of the first example, base-size encoder", large, PAIR, 7)
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak memory that Linux reports
    before = _memory("VmRSS")
    _hidden(encoder, (text(512), text(511)))
    peak = size(_memory("VmHWM") - before)
    yield Row("hide eight words in each of two texts of 512 tokens: peak memory without the encoder", peak, "", None, 1)


def _row(what: str, encoder: Encoder, pair: tuple[str, str], rounds: int, bound: float | None = None) -> Row:
    return compare(what, partial(_hidden, encoder, pair), partial(_passes, encoder, pair), rounds, bound)


def _pass(encoder: Encoder, n: int, recorder: Callable[[], Recorder | None]) -> None:
    with torch.no_grad():
        run(encoder.model, ids(n), recorder())


def _hidden(encoder: Encoder, pair: tuple[str, str]) -> None:
    hidden_pair(encoder, *(encoder.locate(sentence, "bank")[0] for sentence in pair))


def _passes(encoder: Encoder, pair: tuple[str, str]) -> None:
    with torch.no_grad():
        for sentence in pair:
            run(encoder.model, encoder.inputs([encoder.tokenize(sentence)]))


def _memory(field: str) -> int:
    return int(re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
