"""One cache, with a bound in bytes, for all that visitors have made an encoder compute.

Results are kept by encoder and key, never by a tensor: the key names the function, the text and whatever else decides.
"""

import threading
from collections.abc import Callable, Collection, Hashable
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
from selfattn.dashboard.queue import costly_slot, page_left
from selfattn.encoders.capture import Head, Hide
from selfattn.encoders.encoder import Encoder, Progress
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.settings import Settings
from selfattn.words import Word

T = TypeVar("T")
OVERHEAD = 1000  # bytes for what isn't in an array
RECORD = 500  # bytes of a dictionary with its plain values; a chart has one for each thing it draws
PLAIN = str, float, int, type(None)


class Cache(Generic[T]):
    """Results by key, up to a bound; the least recently used go first. What several ask for at once is made once.

    One always stays, be it larger than the bound: a page asks for the same again at each click, and the largest take longest.
    """

    def __init__(self, bound: int, size: Callable[[T], int]):
        self._changing = threading.Condition()
        self._store = cachetools.LRUCache(bound, getsizeof=lambda result: min(size(result), bound))
        kept = cachetools.cached(self._store, key=lambda key, make: key, condition=self._changing)
        self._get = kept(lambda key, make: make())

    @property
    def results(self) -> list[T]:
        """Every result that it holds."""
        with self._changing:
            return [*self._store.values()]

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result for this key, made where the cache hasn't got it."""
        return self._get(key, make)

    def __contains__(self, key: Hashable) -> bool:
        """Whether the result for this key is there."""
        with self._changing:
            return key in self._store

    def forget(self, which: Callable[[Any], bool]) -> None:
        """Drop the results of which(key) is true."""
        with self._changing:
            for key in [key for key in self._store if which(key)]:
                del self._store[key]


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


_results: Cache[Any] = Cache(Settings.read().cached_megabytes * 2**20, bytes_of)


def encoder_key(encoder: Encoder) -> tuple[str | None, ...]:
    """What tells one loaded encoder from another."""
    return (encoder.name, encoder.revision, encoder.digest, encoder.device, encoder.dtype)


def cached(
    encoder: Encoder,
    key: Hashable,
    make: Callable[[Progress], T],
    title: str = "",
    costly: bool = False,
) -> T:
    """make's result about an encoder, from the cache where it was made before.

    make gets a function (done, total) for its progress, which the page shows under `title` ("": it shows nothing).
    costly: make runs the encoder many times. It waits in a queue of its own, while other pages go on in this one's place, and
    ends at the next sign of progress after the visitor has moved on or left. It must not ask for other results of this cache:
    it would hold a place in the queue while it waits for whoever is making them.
    """
    whole_key = (encoder_key(encoder), key)
    place = st.empty() if title else None

    def run() -> T:
        if place is not None:
            place.progress(0.0, title)
        with costly_slot() if costly else nullcontext(lambda: None) as give_way:

            def show(done: int, total: int) -> None:
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


def is_cached(encoder: Encoder, key: Hashable) -> bool:
    """Whether `cached` has the result for this key."""
    return (encoder_key(encoder), key) in _results


def forget_all_but(encoders: Collection[Encoder]) -> None:
    """Drop what was computed about other encoders: encodings and masked-language heads keep hold of a whole model."""
    kept = {encoder_key(encoder) for encoder in encoders}
    _results.forget(lambda key: key[0] not in kept)


def cached_encode(encoder: Encoder, text: str, pair: str | None = None) -> Encoding:
    """The text's Encoding. Raises TextError."""
    return cached(encoder, ("encoding", text, pair), lambda _: encoder.encode(text, pair))


def cached_hidden(encoder: Encoder, word: PlacedWord[Encoding], hidden: Word) -> PlacedWord[Encoding]:
    """A word in its sentence as it is run with another one hidden from it."""
    hide = Hide(word.positions, hidden.positions)
    key = ("hidden from", word.key, hidden.positions)
    text, pair = word.sentence.text, word.sentence.pair
    return PlacedWord(cached(encoder, key, lambda _: encoder.encode(text, pair, hidden=[hide])), word.positions)


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


def cached_error(encoder: Encoder, text: str, head: Head) -> float:
    """The largest difference between the kernel's weights and the model's own, on the same inputs."""

    def make(_: Progress) -> float:
        encoding = cached_encode(encoder, text)
        return float((encoding.weights(*head) - encoding.own_weights(*head)).abs().max())

    return cached(encoder, ("error", text, head), make)


def cached_separate_error(encoder: Encoder, text: str, head: Head) -> float | None:
    """The same against a whole separate eager pass, which serves all heads; None for a text too long to hold all its maps."""
    encoding = cached_encode(encoder, text)
    if not encoder.separate_pass_fits(len(encoding.tokens)):
        return None

    def make(progress: Progress) -> Tensor:
        reference = encoder.reference_weights(text)
        kernel = (encoding.weights(layer) for layer in range(encoder.n_layers))
        return torch.stack([(own - ours).abs().amax(dim=(1, 2)) for own, ours in zip(reference, kernel)])

    return float(cached(encoder, ("separate error", text), make)[head])
