"""The geometry of one attention step: arrows in query-key space, and the mixture in value space.

Source: the picture of the worked example. Scores belong to the first space, weights carry the result to the second.
"""

from collections.abc import Sequence

import pandas as pd
import torch
from torch import Tensor

from selfattn.kernel import AttentionTrace


def query_key_arrows(trace: AttentionTrace, asking: str, tokens: Sequence[str]) -> pd.DataFrame:
    """Arrows from the origin: the query and each key. Columns kind, label, x, y, score (none for the query)."""
    keys = _arrows("key", tokens, trace.key).assign(score=trace.scores[0].tolist())
    return pd.concat([_arrows("query", [asking], trace.query), keys], ignore_index=True)


def value_arrows(trace: AttentionTrace, tokens: Sequence[str]) -> pd.DataFrame:
    """Arrows from the origin: each value and the context. Columns kind, label, x, y, weight (none for the context)."""
    values = _arrows("value", tokens, trace.value).assign(weight=trace.weights[0].tolist())
    return pd.concat([values, _arrows("context", ["context"], trace.context)], ignore_index=True)


def weighted_path(trace: AttentionTrace, tokens: Sequence[str]) -> pd.DataFrame:
    """Head to tail from the origin to the context, a step of weight × value a token: columns x, y, x1, y1, label."""
    steps = trace.weights[0][:, None] * trace.value
    ends = steps.cumsum(0)
    frame = pd.DataFrame(torch.cat([ends - steps, ends], 1).tolist(), columns=["x", "y", "x1", "y1"])
    return frame.assign(label=[f"{weight:.2f} × {token}" for weight, token in zip(trace.weights[0].tolist(), tokens)])


def _arrows(kind: str, labels: Sequence[str], vectors: Tensor) -> pd.DataFrame:
    if vectors.shape[1] != 2:
        raise ValueError(f"Expected vectors of two numbers to draw in the plane, got {vectors.shape[1]}. Use two.")
    x, y = vectors.T.tolist()
    return pd.DataFrame({"kind": kind, "label": list(labels), "x": x, "y": y})
