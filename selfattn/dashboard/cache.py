"""One cache, with a bound in bytes, for all that visitors have made an encoder compute.

Results are kept by encoder and key, never by a tensor: the key names the function, the text and whatever else decides.
"""

import functools
import threading
from collections.abc import Callable, Collection, Hashable
from contextlib import nullcontext
from dataclasses import fields, is_dataclass
from typing import TypeVar

import numpy as np
import pandas as pd
import streamlit as st
import torch
from cachetools import LRUCache
from torch import Tensor

from selfattn.analysis.removing import change_of_cosine
from selfattn.analysis.swapping import PairSwaps, swap_pair
from selfattn.dashboard.queue import costly_slot, page_left, run_slot
from selfattn.encoders.encoder import Encoder, Progress
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.encoders.pooling import NoPooling, Pooling, load_pooling
from selfattn.settings import Settings

T = TypeVar("T")
OVERHEAD = 1000  # bytes for what isn't in an array
RECORD = 500  # bytes of a dictionary with its plain values; a chart has one for each thing it draws
PLAIN = str, float, int, type(None)


class Cache:
    """Results by key, up to a bound; the least recently used go first. What several ask for at once is made once."""

    def __init__(self, bound: int, size: Callable[[object], int]):
        self._size_of = size
        self._store: LRUCache = LRUCache(bound, getsizeof=lambda kept: kept[1])  # each result with its size, taken once
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()
        self._guest: tuple[Hashable, tuple] | None = None  # the latest that is larger than the bound

    @property
    def size(self) -> int:
        """What the cache holds now, in the unit of its bound."""
        return int(self._store.currsize) + (self._guest[1][1] if self._guest else 0)

    @property
    def results(self) -> list[object]:
        """Every result within the bound."""
        with self._lock:
            return [result for result, _ in self._store.values()]

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result for this key, made where the cache hasn't got it. Of results larger than the bound only the latest stays.

        One always stays, because a page asks for the same again at each click, and the largest take longest to make.
        """
        with self._lock:
            if (result := self._result(key)) is not None:
                return result
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if (result := self._result(key)) is not None:  # another visitor was faster
                    return result
            try:
                result = make()
                kept = result, self._size_of(result)  # outside the lock: it takes a moment
                with self._lock:
                    if kept[1] <= self._store.maxsize:
                        self._store[key] = kept
                    else:
                        self._guest = (key, kept)
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return result

    def __contains__(self, key: Hashable) -> bool:
        """Whether the result for this key is there."""
        with self._lock:
            return self._result(key) is not None

    def forget(self, which: Callable[[Hashable], bool]) -> None:
        """Drop the results of which(key) is true."""
        with self._lock:
            for key in [key for key in self._store if which(key)]:
                del self._store[key]
            if self._guest is not None and which(self._guest[0]):
                self._guest = None

    def _result(self, key: Hashable) -> T | None:
        if self._guest is not None and self._guest[0] == key:
            return self._guest[1][0]
        return self._store.get(key, (None,))[0]


def bytes_of(result: object) -> int:
    """The memory that a result's arrays and records keep alive: each tensor's storage once, views and all.

    A model's are its encoder's.
    """
    storages: dict[int, int] = {}
    total, parts = OVERHEAD, [result]
    while parts:  # a chart has thousands, nearly all of them plain values
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


_results = Cache(Settings.read().cached_megabytes * 2**20, bytes_of)


def encoder_key(encoder: Encoder) -> tuple[str | None, ...]:
    """What tells one loaded encoder from another."""
    return (encoder.name, encoder.revision, encoder.digest, encoder.device, encoder.dtype)


def cached(
    encoder: Encoder,
    key: Hashable,
    make: Callable[[Progress], T],
    title: str = "",
    *,
    runs: bool = False,
    costly: bool = False,
) -> T:
    """make's result about an encoder, from the cache where it was made before.

    make gets a function (done, total) for its progress, which the page shows under `title` ("": it shows nothing).
    runs: make does nothing but run the encoder, so it waits in the queue for that. One that asks for other results of this
    cache must not: it would hold a place in the queue while it waits for whoever is making them.
    costly: the same for many runs. They wait in a queue of their own, while other pages go on in this one's place, and end
    at the next sign of progress after the visitor has moved on or left.
    """
    whole_key = (encoder_key(encoder), key)
    place = st.empty() if title else None

    def run() -> T:
        if place is not None:
            place.progress(0.0, title)
        with costly_slot() if costly else run_slot() if runs else nullcontext() as give_way:

            def show(done: int, total: int) -> None:
                if give_way is not None:
                    give_way()
                if place is not None:
                    place.progress(done / total, title)

            return make(show)

    try:
        with page_left() if costly and whole_key not in _results else nullcontext():
            return _results.get(whole_key, run)
    finally:
        if place is not None:
            place.empty()


def once_per_encoder(title: str = "") -> Callable[[Callable[[Encoder], T]], Callable[[Encoder], T]]:
    """Decorate a function of an encoder alone, so that its result is `cached`."""

    def decorate(function: Callable[[Encoder], T]) -> Callable[[Encoder], T]:
        @functools.wraps(function)
        def of_encoder(encoder: Encoder) -> T:
            key = (function.__module__, function.__qualname__)
            return cached(encoder, key, lambda progress: function(encoder), title)

        return of_encoder

    return decorate


def forget_all_but(encoders: Collection[Encoder]) -> None:
    """Drop what was computed about other encoders: encodings and masked-language heads keep hold of a whole model."""
    kept = {encoder_key(encoder) for encoder in encoders}
    _results.forget(lambda key: key[0] not in kept)


def cached_encode(encoder: Encoder, text: str, pair: str | None = None) -> Encoding:
    """The text's Encoding. Raises TextError."""
    return cached(encoder, ("encoding", text, pair), lambda _: encoder.encode(text, pair), runs=True)


def cached_removal(encoder: Encoder, word: PlacedWord, how: str = "zero") -> Tensor:
    """What a word's vector becomes without each head in turn: (n_layers, n_heads, d_model)."""
    return cached(
        encoder,
        ("removal", word.key, how),
        lambda progress: encoder.knock_out(*word, how=how, progress=progress),
        "Removing each head in turn ...",
        costly=True,
    )


def cached_effect(
    encoder: Encoder, first: PlacedWord[Encoding], second: PlacedWord[Encoding], how: str = "zero"
) -> Tensor:
    """The effect of removing each head on the difference of two word vectors: (n_layers, n_heads).

    Each sentence's passes are kept, so a sentence in two comparisons runs once.
    """
    after = [cached_removal(encoder, word, how) for word in (first, second)]
    before = [encoding.vector(encoder.n_layers, positions) for encoding, positions in (first, second)]
    return change_of_cosine(after, before)


def cached_swaps(
    encoder: Encoder,
    *words: PlacedWord[Encoding],
    heads: tuple | None = None,
    how: str = "exact",
    move: bool = False,
) -> PairSwaps:
    """How far swapping heads moves the word in A, B and, where there is one, a control: every head alone, or sets of them."""
    return cached(
        encoder,
        ("swaps", *(word.key for word in words), heads, how, move),
        lambda progress: swap_pair(encoder, *words, heads=heads, how=how, progress=progress, move=move),
        "Swapping each head in turn ..." if heads is None else "",
        runs=True,
        costly=heads is None and how == "exact",
    )


def cached_pooling(encoder: Encoder) -> Pooling | str:
    """How the encoder makes one vector of a sentence, or why it doesn't."""

    def make(progress: Progress) -> Pooling | str:
        try:
            return load_pooling(encoder)
        except NoPooling as error:
            return str(error)

    return cached(encoder, "pooling", make)


def cached_weights(encoder: Encoder, text: str, layer: int, head: int | None = None) -> Tensor:
    """A head's weights (n, n), or those of all of a layer's heads (n_heads, n, n)."""
    return cached(
        encoder, ("weights", text, layer, head), lambda progress: cached_encode(encoder, text).weights(layer, head)
    )


def cached_error(encoder: Encoder, text: str, layer: int, head: int | None = None) -> float:
    """The largest difference between the kernel's weights and the model's own, on the same inputs; None: all heads."""

    def make(progress: Progress) -> float:
        own = cached_encode(encoder, text).own_weights(layer, head)
        return float((cached_weights(encoder, text, layer, head) - own).abs().max())

    return cached(encoder, ("error", text, layer, head), make)


def cached_separate_error(encoder: Encoder, text: str, layer: int, head: int) -> float | None:
    """The same against a whole separate eager pass, which serves all heads; None for a text too long to hold all its maps."""
    encoding = cached_encode(encoder, text)
    if not encoder.separate_pass_fits(len(encoding.tokens)):
        return None

    def make(progress: Progress) -> Tensor:
        with run_slot():
            reference = encoder.reference_weights(text)
        kernel = (encoding.weights(layer) for layer in range(encoder.n_layers))
        return torch.stack([(own - ours).abs().amax(dim=(1, 2)) for own, ours in zip(reference, kernel)])

    return float(cached(encoder, ("separate error", text), make)[layer, head])
