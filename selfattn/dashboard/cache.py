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
        self._guest: tuple[Hashable, object] | None = None  # the latest result that is larger than the bound

    @property
    def bytes(self) -> int:
        """What the cache holds now."""
        return int(self._store.currsize) + (held_bytes(self._guest[1]) if self._guest else 0)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result for this key, made where the cache hasn't got it. Of results larger than the bound only the latest stays.

        One always stays, because a page asks for the same again at each click, and the largest take longest to make.
        """
        with self._lock:
            if (held := self._held(key)) is not None:
                return held
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if (held := self._held(key)) is not None:  # another visitor was faster
                    return held
            try:
                value = make()
                with self._lock:
                    if held_bytes(value) <= self._store.maxsize:
                        self._store[key] = value
                    else:
                        self._guest = (key, value)
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return value

    def _held(self, key: Hashable) -> T | None:
        if self._guest is not None and self._guest[0] == key:
            return self._guest[1]
        return self._store.get(key)


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
