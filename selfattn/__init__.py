"""selfattn: what the attention heads of a pretrained encoder do, with every step recomputed in the open."""

from selfattn.kernel import AttentionTrace, attend

__all__ = ["AttentionTrace", "attend"]
