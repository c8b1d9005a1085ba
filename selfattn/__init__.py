"""selfattn shows what the attention heads of a pretrained encoder do."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from selfattn.settings import forbid_the_hub

if TYPE_CHECKING:
    from selfattn.encoders.capture import Head as Head
    from selfattn.encoders.capture import Hide as Hide
    from selfattn.encoders.capture import Patch as Patch
    from selfattn.encoders.encoder import Encoder as Encoder
    from selfattn.encoders.encoding import Encoding as Encoding
    from selfattn.encoders.errors import LoadError as LoadError
    from selfattn.encoders.errors import NotRecomputable as NotRecomputable
    from selfattn.encoders.errors import TextError as TextError
    from selfattn.encoders.loading import load_encoder as load_encoder
    from selfattn.encoders.placed_word import PlacedWord as PlacedWord
    from selfattn.kernel import AttentionTrace as AttentionTrace
    from selfattn.kernel import attend as attend
    from selfattn.kernel_inputs import Term as Term
    from selfattn.words import Word as Word

__version__ = "0.2.0"  # read by pyproject.toml

forbid_the_hub()

# Import each name on first use, because importing torch takes seconds.
_HOMES = {
    "AttentionTrace": "kernel",
    "Encoder": "encoders.encoder",
    "Encoding": "encoders.encoding",
    "Head": "encoders.capture",
    "Hide": "encoders.capture",
    "LoadError": "encoders.errors",
    "NotRecomputable": "encoders.errors",
    "Patch": "encoders.capture",
    "PlacedWord": "encoders.placed_word",
    "Term": "kernel_inputs",
    "TextError": "encoders.errors",
    "Word": "words",
    "attend": "kernel",
    "load_encoder": "encoders.loading",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
