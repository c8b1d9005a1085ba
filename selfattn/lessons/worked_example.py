"""The worked example: "it" attends to three words, and all four steps fit on one line each.

Source: the published example prints query, keys, scores 10, 7, 5, weights 87 %, 10 %, 3 % and a context of about
[1.79, 1.44]. It doesn't print the values; those below lead to that context.
"""

from collections.abc import Sequence

import pandas as pd
from torch import Tensor

from selfattn.kernel import AttentionTrace, attend
from selfattn.lessons import typed_numbers

ASKING = "it"
TOKENS = ("animal", "street", "because")
QUERY = (3.0, 1.0)
KEYS = ((3.0, 1.0), (1.0, 4.0), (1.5, 0.5))
VALUES = ((2.0, 1.5), (0.0, 1.0), (2.0, 1.0))


def compute(
    query: Sequence[float] = QUERY, keys: Sequence[Sequence[float]] = KEYS, values: Sequence[Sequence[float]] = VALUES
) -> AttentionTrace:
    """One query over n keys of its length, in float64; every step is in the trace."""
    key = typed_numbers.matrix("Keys", keys)
    value = typed_numbers.matrix("Values", values)
    if len(value) != len(key):
        raise ValueError(f"Expected one value a key, got {len(key)} keys and {len(value)} values. Make them as many.")
    return attend(typed_numbers.vector("Query", query, key.shape[1])[None], key, value)


def other_values(trace: AttentionTrace, amount: float = 1.0) -> Tensor:
    """(n, d_value): the two heaviest values of a one-query trace moved apart so that the weighted mean stays where it is."""
    weights, values = trace.weights[0], trace.value.clone()
    heavy, light = weights.topk(2).indices.tolist()
    # What the heavy value gains, weighed, the light one loses, weighed: their sum doesn't move.
    values[heavy] += amount * weights[light]
    values[light] -= amount * weights[heavy]
    return values


def steps(trace: AttentionTrace, tokens: Sequence[str] = TOKENS) -> pd.DataFrame:
    """One row a key of a one-query trace: position, token, score, scaled, weight."""
    return pd.DataFrame(
        {
            "position": range(len(tokens)),
            "token": list(tokens),
            "score": trace.scores[0].tolist(),
            "scaled": trace.scaled[0].tolist(),
            "weight": trace.weights[0].tolist(),
        }
    )
