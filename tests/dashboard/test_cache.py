"""Test the cache of results and the cache of encoders."""

import dataclasses
import gc
import threading
import time
import weakref
from contextlib import suppress
from dataclasses import dataclass
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
import torch

from selfattn.dashboard import cache as the_cache
from selfattn.dashboard import encoder_picker
from selfattn.dashboard.answer import answer_of, panel_of
from selfattn.dashboard.cache import (
    OVERHEAD,
    RECORD,
    Cache,
    bytes_of,
    cached,
    cached_encode,
    cached_error,
    cached_removal,
    is_cached,
)
from selfattn.dashboard.choice import Pair
from selfattn.encoders.capture import Head
from selfattn.encoders.encoding import Encoding
from selfattn.senses import random_twin


@dataclass(eq=False)
class Thing:
    """A stand-in for an encoder. Weak references to a Thing are possible."""

    name: str
    around: object = None
    device, dtype, revision = "cpu", "float32", None

    @property
    def content(self) -> str:
        return self.name


def test_cache_never_exceeds_its_limit():
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
    cache.get(19, lambda: pytest.fail("the value was computed again"))
    for key in ("large", "larger"):  # a value above the limit stays alone in the cache
        assert cache.get(key, lambda: torch.zeros(20_000)) is cache.values[0] and len(cache.values) == 1
    cache.get("larger", lambda: pytest.fail("the value was computed again"))


@pytest.mark.parametrize(
    "key",
    [torch.ones(1), ("view", Thing("a view")), ("words", ("bank", frozenset("ab"))), ["a list"], ("n", np.int64(3))],
)
def test_cache_key_contains_only_strings_numbers_or_tuples(key):
    with pytest.raises(TypeError, match="A cache key may contain only strings, numbers, None and tuples, got"):
        Cache(10_000, bytes_of).get(key, lambda: pytest.fail("the value was computed"))
    assert Cache(1, lambda _: 1).get(("text", None, (1, 2.5, True), Head(0, 3)), lambda: "made") == "made"


@pytest.mark.parametrize("maker_leaves", [False, True])
def test_waiting_thread_gets_a_result(maker_leaves):
    cache, begun, go_on, made = Cache(10_000, bytes_of), threading.Event(), threading.Event(), []

    def first():
        begun.set()
        assert go_on.wait(10)
        if maker_leaves:
            raise ConnectionAbortedError
        return "the first's"

    def ask(make):
        with suppress(ConnectionAbortedError):
            made.append(cache.get("key", make))

    threads = [
        threading.Thread(target=ask, args=(first,)),
        threading.Thread(target=ask, args=(lambda: "the second's",)),
    ]
    threads[0].start()
    assert begun.wait(10)
    threads[1].start()
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert made == (["the second's"] if maker_leaves else ["the first's"] * 2)


def test_superseded_run_stops_waiting(monkeypatch):
    cache, begun, go_on = Cache(10_000, bytes_of), threading.Event(), threading.Event()
    maker = threading.Thread(target=cache.get, args=("key", lambda: begun.set() or go_on.wait(10)))
    maker.start()
    assert begun.wait(10)
    monkeypatch.setattr(the_cache, "stop_if_superseded", Mock(side_effect=ConnectionAbortedError))
    with pytest.raises(ConnectionAbortedError):
        cache.get("key", lambda: pytest.fail("the value was computed twice"))
    go_on.set()
    maker.join(10)
    assert cache.values == [True]


def test_shared_tensor_storage_is_counted_once(encoder):
    encoding = encoder.encode("The bank of the river.")
    numbers = sum(state.numel() for state in encoding.states) + encoding.static.numel()
    numbers += sum(t.numel() for r in encoding.recordings for t in (r.query, r.key, r.value, r.context))
    records = encoding.n_layers * RECORD  # one record for each layer's arguments
    assert bytes_of(encoding) == 4 * numbers + records + OVERHEAD
    assert bytes_of([encoding.static, encoding.static[1:]]) == 4 * encoding.static.numel() + OVERHEAD


def test_bytes_of_arrays_and_tables_are_counted():
    maps = [np.zeros((10, 10), np.uint8), np.zeros((10, 10), np.uint8)]
    assert bytes_of(maps) == 200 + OVERHEAD
    frame = pd.DataFrame({"n": np.zeros(50)})
    assert bytes_of({"a": frame, "b": torch.zeros(3)}) == frame.memory_usage(deep=True).sum() + 12 + RECORD + OVERHEAD
    assert bytes_of({"values": [{"x": 1, "text": "a"}] * 72}) == 73 * RECORD + OVERHEAD  # a chart of 72 heads


@pytest.fixture
def results(monkeypatch):
    """Replace the cache of results with an empty cache."""
    monkeypatch.setattr(the_cache, "_results", Cache(2**20, bytes_of))


def test_cache_key_includes_encoder_text_and_word(encoder, results, monkeypatch):
    asked = []
    monkeypatch.setattr(type(encoder), "knock_out", lambda self, *key, progress: asked.append(key) or torch.ones(1))
    tokens = encoder.tokenize("The old bank was closed.")
    bank, old = tokens.places("bank")[0], tokens.places("old")[0]
    for _ in range(2):
        cached_removal(encoder, bank)
    cached_removal(encoder, old)
    assert asked == [(tokens, (3,)), (tokens, (2,))]
    alone = cached_encode(encoder, "The bank.")
    assert cached_encode(encoder, "The bank.") is alone
    assert cached_encode(encoder, "The bank.", "It closed.") is not alone
    assert cached(Thing(encoder.name), ("encoding", "The bank.", None), lambda progress: "its own") == "its own"


def test_cached_error_compares_recomputed_weights_with_models_own(encoder, results, monkeypatch):
    own = encoder.encode("The bank.").weights(0, 1)
    monkeypatch.setattr(Encoding, "own_weights", lambda self, layer, head: own + 0.5)
    assert cached_error(encoder, "The bank.", Head(0, 1)) == pytest.approx(0.5)


def test_progress_bar_in_container_appears_after_delay(results, monkeypatch):
    now, calls = [0.0], []
    monkeypatch.setattr(the_cache.time, "monotonic", lambda: now[0])
    place = SimpleNamespace(progress=lambda part, title: calls.append(part), empty=lambda: calls.append("gone"))

    def work(progress):
        for second in (1, 2, 3):
            now[0] += 1
            progress(second, 4)

    cached(Thing("n"), "slow", work, "Working ...", where=SimpleNamespace(empty=lambda: place), after=2.0)
    assert calls == [0.5, 0.75, "gone"]


def test_progress_bar_appears_and_disappears(results, monkeypatch):
    calls = []
    place = SimpleNamespace(progress=lambda part, title: calls.append(part), empty=lambda: calls.append("gone"))
    monkeypatch.setattr(the_cache.st, "empty", lambda: place)
    for _ in range(2):
        cached(Thing("n"), "key", lambda progress: progress(3, 4), "Working ...")
    assert calls == [0.0, 0.75, "gone", "gone"]


@pytest.fixture
def collected():
    """Return gc.collect. Freeze older objects first, which saves seconds."""
    gc.freeze()
    yield gc.collect
    gc.unfreeze()


def place_for(number):
    """Return a cache with room for this number of encoders."""
    return Cache(number, lambda _: 1, encoder_picker._encoders._store._release)


@pytest.fixture
def loading(results, monkeypatch):
    """Return a function that loads a Thing and caches a result."""
    monkeypatch.setattr(encoder_picker, "_encoders", place_for(2))
    monkeypatch.setattr(encoder_picker, "load_encoder", lambda name, **_: Thing(name))
    monkeypatch.setattr(encoder_picker, "random_twin", lambda first: Thing(f"{first.name}, random weights"))

    def load(name):
        encoder = encoder_picker.load(name, None, "cpu", "float32")
        return cached(encoder, "its result", lambda progress: {"encoder": encoder})["encoder"]

    return load


@pytest.mark.slow
def test_cache_removes_least_recently_used_encoder(loading, collected):
    gone, kept = weakref.ref(loading("b")), loading("a")
    assert loading("a") is kept and gone() is not None
    loading("c")  # the cache removes b
    collected()
    assert gone() is None
    assert sorted(result["encoder"].name for result in the_cache._results.values) == ["a", "c"]


@pytest.mark.slow
def test_untrained_encoder_replaces_least_recently_used_encoder(loading, collected, monkeypatch):
    monkeypatch.setattr(encoder_picker, "_pick", lambda *_, **__: encoder_picker.UNTRAINED)
    monkeypatch.setattr(encoder_picker, "_say_not_offered", lambda *_: None)
    gone, kept = weakref.ref(loading("b")), loading("a")
    assert encoder_picker.pick_second_encoder(kept).name == "a, random weights"
    collected()
    assert gone() is None and [result["encoder"] for result in the_cache._results.values] == [kept]


@pytest.mark.slow
def test_results_of_evicted_encoder_are_not_cached(loading, collected):
    gone = loading("b")
    loading("a")
    loading("c")
    assert cached(gone, "late", lambda progress: {"encoder": gone}) == {"encoder": gone}
    assert not is_cached(gone, "late") and len(the_cache._results.values) == 2
    gone = weakref.ref(gone)
    collected()
    assert gone() is None


@pytest.mark.slow
def test_evicted_encoder_cannot_replace_results_of_reloaded_encoder(loading):
    gone = encoder_picker.load("b", None, "cpu", "float32")
    for name in ("a", "c", "b"):
        reloaded = loading(name)
    assert reloaded.name == gone.name and reloaded is not gone
    assert cached(gone, "its result", lambda progress: {"encoder": gone}) == {"encoder": gone}
    assert cached(reloaded, "its result", lambda _: pytest.fail("the result was computed again"))["encoder"] is reloaded


def test_encoders_with_different_configurations_share_no_results(results, encoder):
    other = dataclasses.replace(encoder, configuration="another")
    four = (encoder, other, random_twin(encoder), random_twin(other))
    assert [cached(each, "key", lambda _, at=at: at) for at, each in enumerate(four)] == [0, 1, 2, 3]


@pytest.mark.slow
def test_cache_frees_real_encoder_and_its_results(results, collected, monkeypatch, checkpoint):
    """Test every kind of result that the main view caches."""
    monkeypatch.setattr(encoder_picker, "_encoders", place_for(1))
    names = [str(checkpoint(family)) for family in ("BERT", "DistilBERT")]
    encoder = encoder_picker.load(names[0], None, "cpu", "float32")
    texts = ("The bank of the river was wet.", "The bank gave me a loan.")
    pair = Pair(*(cached_encode(encoder, text).places("bank")[0] for text in texts), None)
    view = panel_of(encoder, answer_of(encoder, pair))
    assert view.live.data["word"] == "bank" and len(the_cache._results.values) > 4
    model = weakref.ref(encoder.model)
    del encoder, pair, view
    collected()
    assert model() is not None, "The cache removed the encoder although it had room."
    encoder_picker.load(names[1], None, "cpu", "float32")
    collected()
    assert model() is None and not the_cache._results.values
