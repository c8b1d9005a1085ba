"""What can go wrong with an encoder or a text, in words that a visitor may read."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class LoadError(RuntimeError):
    """An encoder can't be loaded. `kind` is one word for it; the message says what is wrong and what to do."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


class TextError(ValueError):
    """A text that the encoder can't read. The message names what was expected, what came, and the remedy."""


class NotFinite(TextError):
    """A text of which an encoder's finite weights make NaN or infinity. The message names it, the layer and the remedies."""


class OutOfMemory(TextError):
    """The device hasn't the memory that a text takes. The message names the device and the remedies."""


class NotRecomputable(RuntimeError):
    """The encoder's attention is shown as the model reports it; the kernel can't recompute it. The message says why."""


@contextmanager
def failing_as(make: Callable[[str], Exception]) -> Iterator[None]:
    """Raise make(reason) where what runs inside fails, a Rust library's panic too, which is a BaseException.

    What isn't a failure goes through: an interrupt from the keyboard, the dashboard's own control of a run.
    """
    try:
        yield
    except BaseException as caught:
        if not isinstance(caught, Exception) and type(caught).__module__ != "pyo3_runtime":
            raise
        raise make(brief(caught)) from None


def brief(error: BaseException) -> str:
    """An error of another library in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__
