"""Draw the attention map of twelve tokens with hand-made vectors.

The vectors come from a public lesson, whose computation has no mask although the heading says "masked".
"""

from collections.abc import Mapping, Sequence

import streamlit as st
import torch
from torch import Tensor

from selfattn.analysis.what_if import causal_mask
from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import teaching
from selfattn.kernel import AttentionTrace, attend
from selfattn.numbers import vector
from selfattn.views.lesson import drawing

TOKENS = ("The", "movie", "was", "not", "good", ",", "but", "the", "soundtrack", "was", "amazing", ".")
NOT, GOOD, SOUNDTRACK, AMAZING = 3, 4, 8, 10
QUERIES_AND_KEYS = {NOT: (20.0, 20.0), GOOD: (0.0, 1.0), AMAZING: (19.0, 19.0)}
VALUES = {NOT: (1.0, 0.0), GOOD: (0.0, 1.0), AMAZING: (1.0, 1.0)}
# The lesson cited at the top of this file draws its heatmap from these vectors.
OF_THE_MAP = {NOT: (0.0, 1.0), GOOD: (0.0, 1.0), SOUNDTRACK: (19.0, 19.0), AMAZING: (19.0, 19.0)}
VALUES_OF_THE_MAP = {NOT: (-1.0, 0.0), GOOD: (0.0, 1.0), SOUNDTRACK: (1.0, 1.0), AMAZING: (1.0, 1.0)}


def twelve_tokens(picture, answered: bool) -> None:
    """Draw the attention map. Until the visitor answers, the row of "good" is empty."""
    examples = {"what changes “good”?": (QUERIES_AND_KEYS, VALUES), "the source’s map": (OF_THE_MAP, VALUES_OF_THE_MAP)}
    which = teaching.example("twelve-tokens", tuple(examples))
    both, values = examples[which]
    published = {f"Q = K of {TOKENS[place]}": row for place, row in both.items()}
    published |= {f"V of {TOKENS[place]}": row for place, row in values.items()}
    typed = iter(teaching.vectors("twelve-tokens", published, width=114).values())
    given = [dict(zip(rows, typed)) for rows in (both, values)]
    masked = both is OF_THE_MAP
    causal = st.toggle("Causal mask: no word attends to a later word", masked, key=f"twelve-tokens.causal {masked:d}")
    trace = compute(given[0], given[1], causal)
    weights = trace.weights[GOOD].tolist()
    most = " and ".join(f'"{token}"' for token, weight in zip(TOKENS, weights) if weight > 0.9 * max(weights))
    drawn = teaching.asked(trace.weights, answered, GOOD)
    with picture:
        finding = f'"good" attends most to {most}, with a weight of {max(weights):.2f}.'
        chart = drawing(heatmap, drawn, TOKENS, cell=44, maximum=1.0)
        note = f'Context of "good": {vector(trace.context[GOOD], 2)}.'
        teaching.steps("map", finding, {"All attention weights of the sentence": chart}, note=note, answered=answered)


Rows = Mapping[int, Sequence[float] | Tensor]  # rows by the token's position; a missing row is [0, 0]


def compute(queries_and_keys: Rows = QUERIES_AND_KEYS, values: Rows = VALUES, causal: bool = False) -> AttentionTrace:
    both, value = torch.zeros(2, len(TOKENS), 2, dtype=torch.float64)
    for matrix, rows in ((both, queries_and_keys), (value, values)):
        for place, row in rows.items():
            matrix[place] = torch.as_tensor(row)
    return attend(both, both, value, causal_mask(len(TOKENS)) if causal else None)
