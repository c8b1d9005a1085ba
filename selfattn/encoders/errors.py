"""Define errors about encoders and texts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class LoadError(RuntimeError):
    """An encoder can't be loaded."""


class TextError(ValueError):
    """The encoder can't read a text."""


class NotFinite(TextError):
    """An encoder computes NaN or infinity for a text."""


class OutOfMemory(TextError):
    """A text needs more memory than the device has."""


class NotRecomputable(RuntimeError):
    """An encoder's attention can't be recomputed, its heads can't be removed, or its tokens can't be hidden."""


@contextmanager
def failing_as(make: Callable[[str], Exception]) -> Iterator[None]:
    """Turn an exception or a Rust panic in the `with` block into the exception make(reason)."""
    try:
        yield
    except BaseException as caught:
        if not isinstance(caught, Exception) and type(caught).__module__ != "pyo3_runtime":
            raise
        raise make(brief(caught)) from None


def brief(error: BaseException) -> str:
    """Describe an error in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__
