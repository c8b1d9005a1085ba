"""What can go wrong with an encoder or a text, in words that a visitor may read."""


class LoadError(RuntimeError):
    """An encoder can't be loaded. `kind` is one word for it; the message says what is wrong and what to do."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


class TextError(ValueError):
    """A text that the encoder can't read. The message names what was expected, what came, and the remedy."""


class NotRecomputable(RuntimeError):
    """The encoder's attention is shown as the model reports it; the kernel can't recompute it. The message says why."""
