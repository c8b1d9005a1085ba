"""The annotated heatmap: the same twelve tokens under a causal mask, every cell printed.

Source: the published figure, whose weights are printed with two decimals.
"""

from functools import partial

from selfattn.lessons import twelve_tokens
from selfattn.lessons.twelve_tokens import AMAZING, GOOD, NOT, SOUNDTRACK

QUERIES_AND_KEYS = {NOT: (0.0, 1.0), GOOD: (0.0, 1.0), SOUNDTRACK: (19.0, 19.0), AMAZING: (19.0, 19.0)}

# The twelve tokens with a causal mask unless told otherwise; their values don't matter to a map of weights.
compute = partial(twelve_tokens.compute, queries_and_keys=QUERIES_AND_KEYS, causal=True)
