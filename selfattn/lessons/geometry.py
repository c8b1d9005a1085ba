"""The geometry of one attention step: arrows in query-key space, and the mixture in value space.

Source: the picture of the worked example. Scores belong to the first space, weights carry the result to the second.
"""

from collections.abc import Sequence

import pandas as pd

from selfattn.kernel import AttentionTrace


def query_key_arrows(trace: AttentionTrace, asking: str, tokens: Sequence[str]) -> pd.DataFrame:
    """Arrows from the origin: the query and each key. Columns kind, label, x, y, score (none for the query)."""
    rows = [("query", asking, *_plane(trace.query[0]), None)]
    for token, key, score in zip(tokens, trace.key, trace.scores[0]):
        rows.append(("key", token, *_plane(key), float(score)))
    return pd.DataFrame(rows, columns=["kind", "label", "x", "y", "score"])


def value_arrows(trace: AttentionTrace, tokens: Sequence[str]) -> pd.DataFrame:
    """Arrows from the origin: each value and the context. Columns kind, label, x, y, weight (1 for the context)."""
    rows = [
        ("value", token, *_plane(value), float(weight))
        for token, value, weight in zip(tokens, trace.value, trace.weights[0])
    ]
    rows.append(("context", "context", *_plane(trace.context[0]), 1.0))
    return pd.DataFrame(rows, columns=["kind", "label", "x", "y", "weight"])


def _plane(vector) -> tuple[float, float]:
    if vector.shape != (2,):
        raise ValueError(f"Expected vectors of two numbers to draw in the plane, got {vector.numel()}. Use two.")
    return float(vector[0]), float(vector[1])
