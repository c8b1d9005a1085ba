"""Memory that runs out: how each device says so, one more try with half the batch, and what is freed goes back."""

import ctypes
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import torch

from selfattn.encoders.errors import OutOfMemory

T = TypeVar("T")

# torch has a class for it that CUDA's own allocator raises. Elsewhere it is a RuntimeError, known by its words: the CPU's
# allocator, cuBLAS and cuDNN (which ask for memory of their own), CUDA itself, Apple's MPS for all and for one tensor.
WORDS = (
    "can't allocate memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    "CUDA error: out of memory",
    "MPS backend out of memory",
    "Invalid buffer size",
)


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error means that memory ran out, on the CPU, CUDA or MPS."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or any(words in str(error) for words in WORDS)


@contextmanager
def out_of_memory_as(error: Exception) -> Iterator[None]:
    """Raise `error` where what runs inside asks for more memory than there is."""
    try:
        yield
    except Exception as caught:
        if not is_out_of_memory(caught):
            raise
        raise error from None


def in_halves(run: Callable[[Sequence], list[T]], items: Sequence) -> list[T]:
    """run(items), a result for each; where that raises OutOfMemory, one more try in two halves."""
    try:
        return run(items)
    except OutOfMemory:
        if len(items) < 2:
            raise
    give_memory_back()  # after the except clause, whose traceback keeps what the failed pass has made
    half = (len(items) + 1) // 2
    return [*run(items[:half]), *run(items[half:])]


def give_memory_back() -> None:
    """Return what torch's allocators keep for later to the device, so that another model or another process has it."""
    if torch.cuda.is_initialized():
        torch.cuda.empty_cache()
    if torch.backends.mps.is_available():
        torch.mps.empty_cache()


def give_freed_back() -> None:
    """Hand back to the system what tensors of many sizes have left behind; takes milliseconds.

    The C library keeps it, in pieces, for later use: a job of hours would hold far more than it uses. Where that isn't glibc,
    only Arrow's part is done.
    """
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
