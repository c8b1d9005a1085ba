"""Recognise out-of-memory errors, run a batch again in halves, and return freed memory to the system."""

import ctypes
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import torch

from selfattn.encoders.errors import OutOfMemory

T = TypeVar("T")

# torch's CUDA allocator raises torch.OutOfMemoryError. Others raise a RuntimeError with one of these texts: the CPU's allocator,
# cuBLAS, cuDNN, CUDA, and Apple's MPS (the last two texts: its memory is full, or one tensor is too large).
WORDS = (
    "can't allocate memory", "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED", "CUDA error: out of memory",
    "MPS backend out of memory", "Invalid buffer size",
)  # fmt: skip


def is_out_of_memory(error: Exception) -> bool:
    """Return True if an error means that memory ran out, on the CPU, CUDA or MPS."""
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
    """Return run(items), a result for each item. If run(items) raises OutOfMemory, run the items again in two halves."""
    try:
        return run(items)
    except OutOfMemory:
        if len(items) < 2:
            raise
    give_memory_back()  # not in the except clause, where the traceback holds the failed pass's tensors
    half = (len(items) + 1) // 2
    return [*run(items[:half]), *run(items[half:])]


def give_memory_back() -> None:
    """Give the memory that torch caches on GPUs back to other models and processes."""
    if torch.cuda.is_initialized():
        torch.cuda.empty_cache()
    if torch.backends.mps.is_available():
        torch.mps.empty_cache()


def give_freed_back() -> None:
    """Return freed memory to the operating system, within milliseconds: Arrow's memory, and on Linux glibc's memory.

    Both keep freed memory. Without this call, a job that runs for hours would hold far more memory than it uses.
    """
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
