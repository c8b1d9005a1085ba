"""selfattn: what the attention heads of a pretrained encoder do, with every step recomputed in the open."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selfattn.encoder import Encoder, TextError
    from selfattn.encoding import Encoding, NotRecomputable
    from selfattn.kernel import AttentionTrace, attend
    from selfattn.loading import load_encoder
    from selfattn.sources import LoadError
    from selfattn.words import Word

__all__ = [
    "AttentionTrace",
    "Encoder",
    "Encoding",
    "LoadError",
    "NotRecomputable",
    "TextError",
    "Word",
    "attend",
    "load_encoder",
]

# Imported when first asked for: torch and transformers take seconds, and the dashboard's frame needs neither.
_HOMES = {
    "AttentionTrace": "kernel",
    "Encoder": "encoder",
    "Encoding": "encoding",
    "LoadError": "sources",
    "NotRecomputable": "encoding",
    "TextError": "encoder",
    "Word": "words",
    "attend": "kernel",
    "load_encoder": "loading",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
