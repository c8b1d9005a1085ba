"""Queries, keys and values set by hand on twelve tokens."""

import pandas as pd
import streamlit as st

from selfattn.charts.bars import bar_list
from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.kernel import AttentionTrace
from selfattn.lessons import twelve_tokens
from selfattn.lessons.twelve_tokens import AMAZING, GOOD, NOT, QUERIES_AND_KEYS, TOKENS, VALUES

TITLE = "A whole sentence: who turns “good”?"
STEP = "sentence"
OPTIONS = ("only not", "mostly not, but amazing too", "only itself")
PLACES = {"not": NOT, "good": GOOD, "amazing": AMAZING}


def show() -> None:
    teaching.prose(
        "*The movie was not good , but the soundtrack was amazing .* Everything is 0 but three rows: as query and key, "
        "*not* is [20, 20], *good* is [0, 1], *amazing* is [19, 19]."
    )
    question = "What does *good* attend to, without a mask?"
    if not teaching.predict("twelve-tokens", question, OPTIONS, OPTIONS[1]):
        return
    published = {
        f"{role} of {word}": numbers[place]
        for role, numbers in (("Q = K", QUERIES_AND_KEYS), ("V", VALUES))
        for word, place in PLACES.items()
    }
    with teaching.messages():
        typed = teaching.vectors("twelve-tokens", published, width=130)
        causal = st.toggle("Causal mask: no word sees a later one", key="twelve-tokens.causal")
        both, values = (
            {place: typed[f"{role} of {word}"] for word, place in PLACES.items()} for role in ("Q = K", "V")
        )
        trace = twelve_tokens.compute(both, values, causal)
    _figures(trace, causal)
    teaching.prose(
        "**The reason,** with the published numbers: *good* asks for a large second number. Both *not* (20) and "
        "*amazing* (19) have one, and e to the difference over √2 is only 2. So two thirds go to *not* and one third "
        "leaks to *amazing*, six words later. With the causal mask *amazing* is still to come, and *not* takes it all. "
        '(The source\'s heading says "masked", but its printed numbers are those without a mask. Both are here.)'
    )


def _figures(trace: AttentionTrace, causal: bool) -> None:
    row = pd.DataFrame({"token": TOKENS, "weight": trace.weights[GOOD].tolist()})
    first, second = row["weight"].nlargest(2).index
    context = ", ".join(f"{number:.8f}" for number in trace.context[GOOD].tolist())
    even = int((trace.weights.amax(-1) < 0.2).sum())
    with teaching.row():
        chart = bar_list(row, "weight", current_theme(), domain=(0, 1.25))
        caption = f'"{TOKENS[first]}" {row.weight[first]:.2f}, "{TOKENS[second]}" {row.weight[second]:.2f}. '
        teaching.figure("What “good” attends to", chart, f"{caption}Context [{context}].", 360)
        chart = heatmap(trace.weights, TOKENS, current_theme(), maximum=1.0, cell=28, numbers=None)
        caption = f"{even} of {len(TOKENS)} rows have no favourite (largest weight below .20)."
        teaching.figure("All rows", chart, caption + (" Above the diagonal all is 0." if causal else ""), 520)
