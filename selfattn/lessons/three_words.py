"""Three words and softmax: scores 1, 0.5 and 0 become weights .46, .32 and .22 (system S9).

Source: the published numeric example, whose weights are printed with two decimals; it stops before the values.
"""

from collections.abc import Sequence

import pandas as pd

from selfattn.kernel import attend
from selfattn.lessons import typed_numbers as inputs

TOKENS = ("good", "not", "the")
QUERY = (0.0, 1.0)
KEYS = ((0.0, 1.0), (0.5, 0.5), (0.0, 0.0))


def softmax_steps(
    query: Sequence[float] = QUERY, keys: Sequence[Sequence[float]] = KEYS, tokens: Sequence[str] = TOKENS
) -> pd.DataFrame:
    """One row a word: position, token, score, scaled, power (e to the scaled score), weight."""
    key = inputs.matrix("Keys", keys)
    trace = attend(inputs.vector("Query", query, key.shape[1])[None], key, key)
    return pd.DataFrame(
        {
            "position": range(len(key)),
            "token": list(tokens),
            "score": trace.scores[0].tolist(),
            "scaled": trace.scaled[0].tolist(),
            "power": trace.scaled[0].exp().tolist(),
            "weight": trace.weights[0].tolist(),
        }
    )
