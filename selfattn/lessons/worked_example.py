"""Compute the worked example: "it" attends to three words.

The example comes from a public lesson, which gives no value vectors.
"""

from collections.abc import Sequence

import pandas as pd
import torch
from torch import Tensor

from selfattn.kernel import AttentionTrace, attend
from selfattn.kernel_inputs import Terms

TOKENS: Sequence[str] = ("animal", "street", "because")
QUERY = torch.tensor((3.0, 1.0), dtype=torch.float64)
KEYS = torch.tensor(((3.0, 1.0), (1.0, 4.0), (1.5, 0.5)), dtype=torch.float64)
VALUES = torch.tensor(((2.0, 1.5), (0.0, 1.0), (2.0, 1.0)), dtype=torch.float64)


def compute(query: Tensor = QUERY, keys: Tensor = KEYS, values: Tensor = VALUES, terms: Terms = ()) -> AttentionTrace:
    """Return the attention of one query (d,) to keys (n, d) and values (n, d_value)."""
    return attend(query[None], keys, values, terms=terms)


def steps(trace: AttentionTrace, tokens: Sequence[str] = TOKENS) -> pd.DataFrame:
    """Return the trace of one query as a table with one row per key."""
    columns = {"score": trace.scores, "scaled": trace.scaled, "weight": trace.weights}
    return pd.DataFrame({"token": list(tokens), **{name: values[0].tolist() for name, values in columns.items()}})


def of_scores(scores: Tensor, scale: float) -> AttentionTrace:
    """Return the attention trace of one query whose scores (n,) are given."""
    return attend(scores.new_ones(1, 1), scores[:, None], scores[:, None], scale=scale)
