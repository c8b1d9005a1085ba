"""Softmax on three words: scores 1, 0.5 and 0 become weights .46, .32 and .22.

Source: the published numeric example, whose weights are printed with two decimals; it stops before the values.
"""

from collections.abc import Sequence

import pandas as pd

from selfattn.lessons import worked_example

TOKENS = ("good", "not", "the")
QUERY = (0.0, 1.0)
KEYS = ((0.0, 1.0), (0.5, 0.5), (0.0, 0.0))


def steps(query: Sequence[float] = QUERY, keys: Sequence[Sequence[float]] = KEYS) -> pd.DataFrame:
    """One row a word: position, token, score, scaled, power (e to the scaled score), weight."""
    trace = worked_example.compute(query, keys, values=keys)
    return worked_example.steps(trace, TOKENS).assign(power=trace.scaled[0].exp().tolist())
