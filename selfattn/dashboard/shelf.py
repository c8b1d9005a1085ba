"""The encoders kept in memory for all visitors: a bounded number, the least recently used goes first."""

import gc
import threading
from collections.abc import Callable, Hashable

from cachetools import LRUCache

from selfattn.encoders.encoder import Encoder
from selfattn.memory import give_back


class Shelf:
    """Encoders by key. One is loaded at a time, so that two visitors' choices don't fill the memory at once."""

    def __init__(self, places: int, on_evict: Callable[[], None] = lambda: None):
        self._kept: LRUCache = LRUCache(places)
        self._loading = threading.Lock()
        self._lock = threading.Lock()
        self._on_evict = on_evict

    def get(self, key: Hashable, load: Callable[[], Encoder]) -> Encoder:
        """The encoder for this key, loaded where it isn't on the shelf. What `load` raises comes out here."""
        if (kept := self._look(key)) is not None:
            return kept
        with self._loading:
            if (kept := self._look(key)) is not None:  # another visitor waited for the same one
                return kept
            encoder = load()
            with self._lock:
                full = len(self._kept) >= self._kept.maxsize
                self._kept[key] = encoder
            if full:
                self._on_evict()
            _settle()
            return encoder

    def _look(self, key: Hashable) -> Encoder | None:
        with self._lock:
            return self._kept.get(key)


def _settle() -> None:
    """Collect what is gone, then keep later collections from walking what stays: modules and models, for 178 ms each."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    give_back()
