"""Queries, keys and values set by hand on twelve tokens."""

import pandas as pd
import streamlit as st

from selfattn.dashboard import teaching
from selfattn.kernel import AttentionTrace
from selfattn.lessons import twelve_tokens
from selfattn.lessons.twelve_tokens import GOOD, QUERIES_AND_KEYS, TOKENS, VALUES
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


def show(picture, numbers) -> None:
    published = {
        f"{role} of {TOKENS[place]}": vector
        for role, rows in (("Q = K", QUERIES_AND_KEYS), ("V", VALUES))
        for place, vector in rows.items()
    }
    with numbers, teaching.messages():
        typed = list(teaching.vectors("twelve-tokens", published, width=114).values())
        causal = st.toggle("Causal mask: no word sees a later one", key="twelve-tokens.causal")
        trace = twelve_tokens.compute(dict(zip(QUERIES_AND_KEYS, typed)), dict(zip(VALUES, typed[3:])), causal)
    with picture:
        _figures(trace, causal)


def _figures(trace: AttentionTrace, causal: bool) -> None:
    row = pd.DataFrame({"token": TOKENS, "weight": trace.weights[GOOD].tolist()})
    first, second = row["weight"].nlargest(2).index
    even = int((trace.weights.amax(-1) < 0.2).sum())
    charts = {
        "context": ("“good” attends to", teaching.bars(row, "weight", domain=(0, 1.3), width=110)),
        "weights": ("All rows", teaching.grid(trace.weights, TOKENS, maximum=1.0, cell=27, numbers=None)),
    }
    caption = (
        f'"{TOKENS[first]}" {row.weight[first]:.2f}, "{TOKENS[second]}" {row.weight[second]:.2f}. Context '
        f"{vector(trace.context[GOOD], 2)}. {even} of {len(TOKENS)} rows have no favourite (largest weight below .20)."
    )
    teaching.steps(charts, caption + (" Above the diagonal all is 0." if causal else ""), ("weights", "context"))
