"""A cache for all visitors with a bound in bytes, for results that hold tensors."""

import threading
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from typing import TypeVar

from cachetools import LRUCache
from torch import Tensor

T = TypeVar("T")
OVERHEAD = 1000  # bytes for what isn't in a tensor


class BoundedCache:
    """Results by key; the least recently used go first. What several ask for at once is made once."""

    def __init__(self, max_bytes: int):
        self._store: LRUCache = LRUCache(max_bytes, getsizeof=held_bytes)
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    @property
    def bytes(self) -> int:
        """What the cache holds now."""
        return int(self._store.currsize)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result for this key, made where the cache hasn't got it. A result larger than the bound isn't kept."""
        with self._lock:
            if key in self._store:
                return self._store[key]
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._store:  # another visitor was faster
                    return self._store[key]
            try:
                value = make()
                with self._lock:
                    if held_bytes(value) <= self._store.maxsize:
                        self._store[key] = value
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return value


def held_bytes(value: object) -> int:
    """The memory that a result's tensors keep alive: each storage once, views and all."""
    storages = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in _tensors(value)}
    return sum(storages.values()) + OVERHEAD


def _tensors(value: object) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in _tensors(item)]
    if is_dataclass(value) and not isinstance(value, type):
        return [tensor for field in fields(value) for tensor in _tensors(getattr(value, field.name))]
    return []
