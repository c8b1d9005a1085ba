"""Memory that was freed goes back to the system.

The C library keeps what tensors of many sizes have left behind, in pieces, for later use: a process that computes for hours
would hold far more than it uses. And it keeps a store of its own for nearly each thread, of which a server has many.
"""

import ctypes
import sys
import threading
import time
from collections.abc import Callable

EVERY = 10.0  # seconds, at least, between two times where many ask
ARENA_MAX = -8  # mallopt's number for it, in malloc.h

_last = time.monotonic()  # a short job has nothing to give back
_lock = threading.Lock()


def share_stores(most: int = 2) -> bool:
    """Let threads share a few stores of free memory; True where the C library does (glibc). Call it before they start.

    With a store for each thread a server with many visitors holds free memory that the thread which needs some can't take.
    """
    set_option = _glibc("mallopt")
    return set_option is not None and set_option(ARENA_MAX, most) == 1


def give_back() -> None:
    """Hand back what is free now. Takes milliseconds; where the C library isn't glibc, only Arrow's part is done."""
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.default_memory_pool().release_unused()
    if (trim := _glibc("malloc_trim")) is not None:
        trim(0)


def give_back_sometimes(every: float = EVERY) -> None:
    """The same, at most once in so many seconds however many call it."""
    global _last
    with _lock:
        if time.monotonic() - _last < every:
            return
        _last = time.monotonic()
    give_back()


def _glibc(name: str) -> Callable[..., int] | None:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
