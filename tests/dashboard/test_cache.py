"""The cache: bounded in bytes, each result made once however many ask, and nothing kept of an encoder that is gone."""

import threading
import time
import weakref
from dataclasses import dataclass
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
import torch

from selfattn.dashboard import cache as the_cache
from selfattn.dashboard import encoder_picker
from selfattn.dashboard.cache import (
    OVERHEAD,
    RECORD,
    Cache,
    bytes_of,
    cached,
    cached_encode,
    cached_removal,
)


@dataclass(eq=False)
class Thing:
    """Stands in for an encoder; can be watched for being freed."""

    name: str
    around: object = None
    device, dtype, revision = "cpu", "float32", None

    @property
    def digest(self) -> str:
        """Its name."""
        return self.name


def test_the_cache_stays_within_its_bytes_and_makes_each_result_once():
    cache, made = Cache(10 * (4_000 + OVERHEAD), bytes_of), []

    def make(key):
        made.append(key)
        time.sleep(0.01)
        return torch.zeros(1_000)

    threads = [threading.Thread(target=cache.get, args=(0, lambda: make(0))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [0]
    for key in range(1, 20):
        cache.get(key, lambda key=key: make(key))
    assert [key in cache for key in range(20)] == 10 * [False] + 10 * [True]
    cache.get(19, lambda: pytest.fail("it is there already"))
    for key in ("large", "larger"):  # one that is beyond the bound stays alone
        assert cache.get(key, lambda: torch.zeros(20_000)) is cache.results[0] and len(cache.results) == 1
    cache.get("larger", lambda: pytest.fail("it is there already"))


def test_a_result_that_could_not_be_made_is_tried_again():
    cache = Cache(10_000, bytes_of)
    with pytest.raises(ConnectionAbortedError):
        cache.get("key", Mock(side_effect=ConnectionAbortedError))
    assert cache.get("key", lambda: 7) == 7


def test_bytes_of_an_encoding_count_each_storage_once(encoder):
    encoding = encoder.encode("The bank of the river.")
    numbers = sum(state.numel() for state in encoding.states) + encoding.static.numel()
    numbers += sum(t.numel() for r in encoding.recordings for t in (r.query, r.key, r.value, r.context))
    records = encoding.n_layers * RECORD  # a layer's arguments
    assert bytes_of(encoding) == 4 * numbers + records + OVERHEAD
    assert bytes_of([encoding.static, encoding.static[1:]]) == 4 * encoding.static.numel() + OVERHEAD


def test_arrays_and_tables_count_too():
    maps = [np.zeros((10, 10), np.uint8), np.zeros((10, 10), np.uint8)]
    assert bytes_of(maps) == 200 + OVERHEAD
    frame = pd.DataFrame({"n": np.zeros(50)})
    assert bytes_of({"a": frame, "b": torch.zeros(3)}) == frame.memory_usage(deep=True).sum() + 12 + RECORD + OVERHEAD
    assert bytes_of({"values": [{"x": 1, "text": "a"}] * 72}) == 73 * RECORD + OVERHEAD  # a chart of 72 heads


@pytest.fixture
def results(monkeypatch):
    """A cache of one's own."""
    monkeypatch.setattr(the_cache, "_results", Cache(2**20, bytes_of))


def test_results_are_kept_by_encoder_text_word_and_way(encoder, results, monkeypatch):
    asked = []
    monkeypatch.setattr(
        type(encoder), "knock_out", lambda self, *key, how, progress: asked.append((*key, how)) or torch.ones(1)
    )
    tokens = encoder.tokenize("The old bank was closed.")
    bank, old = tokens.places("bank")[0], tokens.places("old")[0]
    for way in ("zero", "mean", "zero"):
        cached_removal(encoder, bank, way)
    cached_removal(encoder, old)
    assert asked == [(tokens, (3,), "zero"), (tokens, (3,), "mean"), (tokens, (2,), "zero")]
    alone = cached_encode(encoder, "The bank.")
    assert cached_encode(encoder, "The bank.") is alone
    assert cached_encode(encoder, "The bank.", "It closed.") is not alone
    assert cached(Thing(encoder.name), ("encoding", "The bank.", None), lambda progress: "its own") == "its own"


def test_progress_is_shown_while_it_is_made_and_gone_after(results, monkeypatch):
    said = []
    place = SimpleNamespace(progress=lambda part, title: said.append(part), empty=lambda: said.append("gone"))
    monkeypatch.setattr(the_cache.st, "empty", lambda: place)
    for _ in range(2):
        cached(Thing("n"), "key", lambda progress: progress(3, 4), "Working ...")
    assert said == [0.0, 0.75, "gone", "gone"]


def test_the_least_recently_used_encoder_goes_first_with_all_that_it_left(results, monkeypatch):
    monkeypatch.setattr(encoder_picker, "_encoders", Cache(2, lambda _: 1))
    monkeypatch.setattr(encoder_picker, "load_encoder", lambda name, **_: Thing(name))
    monkeypatch.setattr(encoder_picker, "_settle", lambda: None)

    def load(name):
        encoder = encoder_picker.load(name, None, "cpu", "float32")
        cached(encoder, "its result", lambda progress: torch.full((1,), float(ord(name))))
        return encoder

    gone, kept = weakref.ref(load("b")), load("a")
    assert load("a") is kept and gone() is not None
    load("c")  # b goes
    assert gone() is None
    assert sorted(chr(int(result)) for result in the_cache._results.results) == ["a", "c"]
