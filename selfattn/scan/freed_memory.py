"""Memory that was freed goes back to the system.

The C library keeps what tensors of many sizes have left behind, in pieces, for later use: a job of hours would hold far more
than it uses.
"""

import ctypes
import sys
import threading
import time

EVERY = 2.0  # seconds
_last = time.monotonic()  # a short job has nothing to give back
_lock = threading.Lock()


def give_back() -> None:
    """Hand back what is free now. Takes milliseconds; where the C library isn't glibc, only Arrow's part is done."""
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def give_back_sometimes() -> None:
    """The same, at most once in EVERY seconds however many call it."""
    global _last
    with _lock:
        if time.monotonic() - _last < EVERY:
            return
        _last = time.monotonic()
    give_back()
