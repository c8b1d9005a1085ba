"""The annotated heatmap: the same twelve tokens under a causal mask, every cell printed (system S11).

Source: the published figure: weights with two decimals, white on cells above 60 % of the maximum, black below.
"""

from collections.abc import Mapping, Sequence

from selfattn.kernel import AttentionTrace
from selfattn.lessons import twelve_tokens
from selfattn.lessons.twelve_tokens import AMAZING, GOOD, NOT, SOUNDTRACK, TOKENS

__all__ = ["QUERIES_AND_KEYS", "TOKENS", "VALUES", "compute", "ink_threshold"]

QUERIES_AND_KEYS = {NOT: (0.0, 1.0), GOOD: (0.0, 1.0), SOUNDTRACK: (19.0, 19.0), AMAZING: (19.0, 19.0)}
VALUES = {NOT: (-1.0, 0.0), GOOD: (0.0, 1.0), SOUNDTRACK: (1.0, 1.0), AMAZING: (1.0, 1.0)}
WHITE_ABOVE = 0.6


def compute(
    queries_and_keys: Mapping[int, Sequence[float]] = QUERIES_AND_KEYS,
    values: Mapping[int, Sequence[float]] = VALUES,
    causal: bool = True,
) -> AttentionTrace:
    """The twelve tokens with a causal mask unless told otherwise."""
    return twelve_tokens.compute(queries_and_keys, values, causal)


def ink_threshold(trace: AttentionTrace) -> float:
    """The weight above which a cell's number is printed in white."""
    return WHITE_ABOVE * float(trace.weights.max())
