"""Softmax on three words: scores 1, 0.5 and 0 become weights .46, .32 and .22.

Source: the published numeric example, whose weights are printed with two decimals; it stops before the values.
"""

import math
from collections.abc import Sequence

import pandas as pd
import torch

from selfattn.kernel import attend
from selfattn.lessons import worked_example

TOKENS = ("good", "not", "the")
QUERY = (0.0, 1.0)
KEYS = ((0.0, 1.0), (0.5, 0.5), (0.0, 0.0))
LARGEST = 100.0  # a scaled score; the picture writes e to it out


def steps(
    query: Sequence[float] = QUERY,
    keys: Sequence[Sequence[float]] = KEYS,
    tokens: Sequence[str] = TOKENS,
    place: int = 0,
    more: float = 0.0,
    others: int = 0,
    scale: float | None = None,
) -> pd.DataFrame:
    """One row a word: position, token, score, scaled, exponential (e to the scaled score), weight.

    more: added to the score at `place`. others: so many more words of score 0, which have one row together.
    scale: 1 / sqrt(d_k) unless given.
    """
    scores = worked_example.compute(query, keys, values=keys).scores[0]
    scores[place] += more
    key = torch.cat([scores, scores.new_zeros(others)])[:, None]  # a query of 1: each score is its key
    trace = attend(torch.ones_like(key[:1]), key, key, scale=len(query) ** -0.5 if scale is None else scale)
    found = worked_example.steps(trace, range(len(key)))
    if (most := found["scaled"].max()) > LARGEST:
        raise ValueError(
            f"Expected scores up to {LARGEST:g}, for e to them is written out; got {most:g}. Type smaller numbers."
        )
    found["exponential"] = found["scaled"].map(math.exp)
    first = found.head(len(tokens)).assign(token=list(tokens))
    if not others:
        return first
    rest = found.tail(others)
    together = {name: rest[name].sum() for name in ("score", "scaled", "exponential", "weight")}
    return pd.concat([first, pd.DataFrame([{"position": len(tokens), "token": f"{others} more", **together}])])
