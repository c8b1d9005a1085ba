"""Recognise out-of-memory errors, and free memory."""

import ctypes
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import torch

from selfattn.encoders.errors import OutOfMemory

T = TypeVar("T")

# Parts of the out-of-memory messages of CPU, cuBLAS, cuDNN, CUDA and Apple's MPS.
WORDS = (
    "can't allocate memory", "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED", "CUDA error: out of memory",
    "MPS backend out of memory", "Invalid buffer size",
)  # fmt: skip


def is_out_of_memory(error: Exception) -> bool:
    """Return True if the error says that memory ran out."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or any(words in str(error) for words in WORDS)


@contextmanager
def out_of_memory_as(error: Exception) -> Iterator[None]:
    """Raise `error` if memory runs out in the `with` block."""
    try:
        yield
    except Exception as caught:
        if not is_out_of_memory(caught):
            raise
        raise error from None


def in_halves(run: Callable[[Sequence], list[T]], items: Sequence) -> list[T]:
    """Return run(items). After OutOfMemory, run the items in two halves."""
    try:
        return run(items)
    except OutOfMemory:
        if len(items) < 2:
            raise
    give_memory_back()  # outside `except`, whose traceback holds the failed tensors
    half = (len(items) + 1) // 2
    return [*run(items[:half]), *run(items[half:])]


def give_memory_back() -> None:
    """Free the memory that torch caches on GPUs."""
    if torch.cuda.is_initialized():
        torch.cuda.empty_cache()
    if torch.backends.mps.is_available():
        torch.mps.empty_cache()


def give_freed_back() -> None:
    """Make Arrow and glibc return their unused memory to the operating system."""
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
