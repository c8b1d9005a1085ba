"""selfattn: what the attention heads of a pretrained encoder do, with every step recomputed in the open."""

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
