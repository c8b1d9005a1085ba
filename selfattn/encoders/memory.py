"""Recognise errors of memory, run a batch again in halves, and return freed memory to the system."""

import ctypes
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import torch

from selfattn.encoders.errors import OutOfMemory

T = TypeVar("T")

# CUDA's own allocator raises torch.OutOfMemoryError. Others raise a RuntimeError with these words: the CPU's allocator, cuBLAS,
# cuDNN, CUDA itself, Apple's MPS for all and for one tensor.
WORDS = (
    "can't allocate memory", "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED", "CUDA error: out of memory",
    "MPS backend out of memory", "Invalid buffer size",
)  # fmt: skip


def is_out_of_memory(error: Exception) -> bool:
    """Return True for an error that means that memory ran out, on the CPU, CUDA or MPS."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or any(words in str(error) for words in WORDS)


@contextmanager
def out_of_memory_as(error: Exception) -> Iterator[None]:
    """Raise `error` if memory runs out inside."""
    try:
        yield
    except Exception as caught:
        if not is_out_of_memory(caught):
            raise
        raise error from None


def in_halves(run: Callable[[Sequence], list[T]], items: Sequence) -> list[T]:
    """Return run(items), a result for each item; after OutOfMemory, run them again in two halves."""
    try:
        return run(items)
    except OutOfMemory:
        if len(items) < 2:
            raise
    give_memory_back()  # after the except clause, whose traceback holds the failed pass's tensors
    half = (len(items) + 1) // 2
    return [*run(items[:half]), *run(items[half:])]


def give_memory_back() -> None:
    """Return the memory that torch's allocators hold in reserve to the device, for other models and processes."""
    if torch.cuda.is_initialized():
        torch.cuda.empty_cache()
    if torch.backends.mps.is_available():
        torch.mps.empty_cache()


def give_freed_back() -> None:
    """Return freed memory to the system, within milliseconds; only Arrow's if the C library isn't glibc.

    The C library holds freed memory in reserve, so a job of hours would hold far more than it uses.
    """
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
