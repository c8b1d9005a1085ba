"""Cache the results of encoders for all visitors, up to a limit in bytes."""

import threading
import time
import weakref
from collections.abc import Callable, Hashable
from contextlib import nullcontext
from dataclasses import fields, is_dataclass
from typing import Any, Generic, TypeVar

import cachetools
import numpy as np
import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from selfattn.analysis.removing import change_of_cosine
from selfattn.dashboard.queue import LOOK, costly_slot, page_lent, stop_if_superseded
from selfattn.encoders.capture import Head, Hide
from selfattn.encoders.encoder import Encoder, Progress
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.settings import Settings
from selfattn.words import Word

T = TypeVar("T")
OVERHEAD = 1000  # bytes: an estimate for everything but arrays and dictionaries
RECORD = 500  # bytes: an estimate for a dictionary with plain values
PLAIN = str, float, int, type(None)


class Cache(Generic[T]):
    """A thread-safe cache that drops the least recently used values first.

    A value larger than the bound replaces all others.
    bound: the largest total size of all values. on_release: called with each dropped value.
    """

    def __init__(self, bound: int, size: Callable[[T], int], on_release: Callable[[T], None] = lambda _: None):
        self._changing = _Changing()
        self._store = _Store(bound, lambda value: min(size(value), bound), on_release)
        kept = cachetools.cached(self._store, key=lambda key, make: key, condition=self._changing)
        self._get = kept(lambda key, make: make())

    @property
    def values(self) -> list[T]:
        """All values in the cache."""
        with self._changing:
            return [*self._store.values()]

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of this key. If there is none, make one and keep it.

        Raises TypeError for a key that `check_key` refuses.
        """
        check_key(key)
        return self._get(key, make)

    def __contains__(self, key: Hashable) -> bool:
        with self._changing:
            return key in self._store

    def forget(self, which: Callable[[Any], bool]) -> None:
        """Drop each value whose key satisfies the condition `which`."""
        with self._changing:
            for key in [key for key in self._store if which(key)]:
                del self._store[key]


class _Store(cachetools.LRUCache):
    def __init__(self, bound: int, size: Callable[[Any], int], release: Callable[[Any], None]):
        super().__init__(bound, getsizeof=size)
        self._release = release

    def popitem(self) -> tuple[Any, Any]:
        """Remove and return the least recently used item."""
        key, value = super().popitem()
        self._release(value)
        return key, value


class _Changing(threading.Condition):
    def wait(self, timeout: float | None = LOOK) -> bool:
        """Wait until another thread has made the value. End the page's run if the visitor moves on."""
        with page_lent():
            woken = super().wait(timeout)
        stop_if_superseded()
        return woken


def check_key(key: object) -> None:
    """Raise TypeError unless the key consists of strings, numbers, None and tuples.

    Other keys could keep an encoder in memory.
    """
    if isinstance(key, tuple):
        for part in key:
            check_key(part)
    elif not isinstance(key, PLAIN):
        raise TypeError(f"A cache key may contain only strings, numbers, None and tuples, got {type(key).__name__}.")


def bytes_of(result: object) -> int:
    """Return the size in bytes of a result's arrays and dictionaries; models don't count."""
    storages: dict[int, int] = {}
    total, parts = OVERHEAD, [result]
    while parts:  # a chart has thousands of parts, nearly all of them plain values
        value = parts.pop()
        if isinstance(value, PLAIN):
            continue
        if isinstance(value, dict):
            total += RECORD
            parts.extend(value.values())
        elif isinstance(value, list | tuple):
            parts.extend(value)
        elif isinstance(value, Tensor):
            storage = value.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
        elif isinstance(value, np.ndarray):
            total += value.nbytes
        elif isinstance(value, pd.DataFrame):
            total += int(value.memory_usage(deep=True).sum())
        elif is_dataclass(value) and not isinstance(value, type):
            parts.extend(getattr(value, field.name) for field in fields(value))
    return total + sum(storages.values())


_results: Cache[Any] = Cache(Settings.read().cached_megabytes * 2**20, bytes_of)
_gone: weakref.WeakSet[Encoder] = weakref.WeakSet()  # encoders dropped to make room; a page may still use them


def encoder_key(encoder: Encoder) -> tuple[str | None, ...]:
    """Return the encoder's cache key. It contains the name and revision, because results contain them."""
    return (encoder.name, encoder.revision, encoder.content, encoder.device, encoder.dtype)


def cached(
    encoder: Encoder,
    key: Hashable,
    make: Callable[[Progress], T],
    title: str = "",
    costly: bool = False,
    where: Any = None,
    after: float = 0.0,
) -> T:
    """Return make(progress), or the cached result. key: everything that affects the result.

    make: calls progress(done, total). It must not call `cached`, which could deadlock.
    title: the progress bar's text ("": no bar). where: the bar's container. after: seconds until the bar appears.
    costly: True if `make` must wait for a slot for costly work, and must end if the visitor moves on.
    Results of an encoder that was removed from memory to make room aren't cached.
    """
    whole_key = (encoder_key(encoder), key)
    place = st.empty() if title and where is None else None

    def run() -> T:
        started = time.monotonic()

        def report(part: float) -> None:
            nonlocal place
            if title and place is None and time.monotonic() - started >= after:
                place = where.empty()
            if place is not None:
                place.progress(part, title)

        report(0.0)
        with costly_slot() if costly else nullcontext(lambda: None) as go_on:

            def show(done: int, total: int) -> None:
                go_on()
                report(done / total)

            return make(show)

    kept = encoder not in _gone
    try:
        return _results.get(whole_key, run) if kept else run()
    finally:
        if kept and encoder in _gone:
            forget(encoder)
        if place is not None:
            place.empty()


def is_cached(encoder: Encoder, key: Hashable) -> bool:
    return (encoder_key(encoder), key) in _results


def forget(encoder: Encoder) -> None:
    """Delete an encoder's cached results, so that its model can leave memory."""
    _gone.add(encoder)
    gone = encoder_key(encoder)
    _results.forget(lambda key: key[0] == gone)


def cached_encode(encoder: Encoder, text: str, pair: str | None = None) -> Encoding:
    """Return the text's encoding. Raises TextError."""
    return cached(encoder, ("encoding", text, pair), lambda _: encoder.encode(text, pair))


def cached_hidden(encoder: Encoder, word: PlacedWord[Encoding], hidden: Word) -> PlacedWord[Encoding]:
    """Return `word`, encoded with a mask by which `word` can't attend to `hidden`."""
    hide = Hide(word.positions, hidden.positions)
    key = ("with hidden tokens", word.sentence.text, word.sentence.pair, repr(hide))
    text, pair = word.sentence.text, word.sentence.pair
    return PlacedWord(cached(encoder, key, lambda _: encoder.encode(text, pair, hidden=[hide])), word.positions)


def cached_removal(encoder: Encoder, word: PlacedWord) -> Tensor:
    """Return a word's last hidden state, with each head removed in turn: (n_layers, n_heads, d_model)."""
    return cached(
        encoder,
        ("removal", word.key),
        lambda progress: encoder.knock_out(*word, progress=progress),
        "Removing each head in turn ...",
        costly=True,
    )


def cached_effect(encoder: Encoder, first: PlacedWord[Encoding], second: PlacedWord[Encoding]) -> Tensor:
    """Return how the cosine of two words changes if each head is removed in turn: (n_layers, n_heads)."""
    after = [cached_removal(encoder, word) for word in (first, second)]
    before = [encoding.vector(encoder.n_layers, positions) for encoding, positions in (first, second)]
    return change_of_cosine(after, before)


def cached_error(encoder: Encoder, text: str, head: Head) -> float:
    """Return the largest difference between a head's recomputed weights and the model's own, from the same queries and keys."""

    def make(_: Progress) -> float:
        encoding = cached_encode(encoder, text)
        return float((encoding.weights(*head) - encoding.own_weights(*head)).abs().max())

    return cached(encoder, ("error", text, head), make)


def cached_separate_error(encoder: Encoder, text: str, head: Head) -> float | None:
    """Return the largest difference between selfattn's attention weights of a head and those of a separate eager pass.

    None: the attention maps don't fit in memory.
    """
    encoding = cached_encode(encoder, text)
    if not encoder.separate_pass_fits(len(encoding.tokens)):
        return None

    def make(progress: Progress) -> Tensor:
        reference = encoder.reference_weights(text)
        kernel = (encoding.weights(layer) for layer in range(encoder.n_layers))
        return torch.stack([(own - ours).abs().amax(dim=(1, 2)) for own, ours in zip(reference, kernel)])

    return float(cached(encoder, ("separate error", text), make)[head])
