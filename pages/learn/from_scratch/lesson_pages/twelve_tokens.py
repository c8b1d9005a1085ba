"""Queries, keys and values set by hand on twelve tokens: "good" attends to "not", unless another key is as large.

Source: the published example (d = 2, all zero but three rows). Its heading says "masked" but its code has no mask; the
printed context belongs to the version without one. The causal version is here too.
"""

from collections.abc import Mapping, Sequence

import streamlit as st
import torch
from torch import Tensor

from selfattn.analysis.what_if import causal_mask
from selfattn.dashboard import teaching
from selfattn.kernel import AttentionTrace, attend
from selfattn.numbers import vector

TITLE = "A whole sentence: who turns “good”?"
STEP = "weighted sum"
IDEA = (
    "A whole sentence at once: every word asks, every word answers, each row is a budget. In *The movie was not good , "
    "but the soundtrack was amazing .* three words have numbers, set by hand; all others have zeros."
)
QUESTION = (
    "As query and key *not* is [20, 20], *good* [0, 1], *amazing* [19, 19]. What does *good* attend to, without a mask?"
)
OPTIONS = ("mostly “not”, but “amazing” too", "only “not”", "only itself")
REASON = (
    "*good* asks for a large second number. *not* (20) and *amazing* (19) both have one, and e to the difference over √2 is only "
    '2: two thirds against one third. (The source says "masked", but its numbers are those without a mask.)'
)
TAKE = "One matrix product does all words at once, at any distance. A key that is nearly as large takes its share, wanted or not."
TOKENS = ("The", "movie", "was", "not", "good", ",", "but", "the", "soundtrack", "was", "amazing", ".")
NOT, GOOD, SOUNDTRACK, AMAZING = 3, 4, 8, 10
QUERIES_AND_KEYS = {NOT: (20.0, 20.0), GOOD: (0.0, 1.0), AMAZING: (19.0, 19.0)}
# The annotated heatmap's.
OF_THE_MAP = {NOT: (0.0, 1.0), GOOD: (0.0, 1.0), SOUNDTRACK: (19.0, 19.0), AMAZING: (19.0, 19.0)}
VALUES = {NOT: (1.0, 0.0), GOOD: (0.0, 1.0), AMAZING: (1.0, 1.0)}


def show(picture) -> None:
    published = {
        f"{role} of {TOKENS[place]}": vector
        for role, rows in (("Q = K", QUERIES_AND_KEYS), ("V", VALUES))
        for place, vector in rows.items()
    }
    typed = list(teaching.vectors("twelve-tokens", published, width=114).values())
    causal = st.toggle("Causal mask: no word sees a later one", key="twelve-tokens.causal")
    both, values = dict(zip(QUERIES_AND_KEYS, typed)), dict(zip(VALUES, typed[3:]))
    trace = compute(both, values, causal)
    with picture:
        note = f'Context of "good": {vector(trace.context[GOOD], 2)}. Click another word to see its row.'
        teaching.kernel("twelve-tokens", trace, TOKENS, GOOD, note=note)


Rows = Mapping[int, Sequence[float] | Tensor]  # by their place; those that are not given are [0, 0]


def compute(queries_and_keys: Rows = QUERIES_AND_KEYS, values: Rows = VALUES, causal: bool = False) -> AttentionTrace:
    """All twelve tokens at once. causal: no token sees a later one."""
    both, value = torch.zeros(2, len(TOKENS), 2, dtype=torch.float64)
    for matrix, rows in ((both, queries_and_keys), (value, values)):
        for place, row in rows.items():
            matrix[place] = torch.as_tensor(row)
    return attend(both, both, value, causal_mask(len(TOKENS)) if causal else None)
