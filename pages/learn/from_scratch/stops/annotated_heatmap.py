"""The annotated heatmap."""

import streamlit as st

from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.kernel import AttentionTrace
from selfattn.lessons import annotated_heatmap
from selfattn.lessons.twelve_tokens import AMAZING, GOOD, NOT, SOUNDTRACK, TOKENS

TITLE = "A whole sentence: read the map"
STEP = "sentence"
PLACES = {"not": NOT, "good": GOOD, "soundtrack": SOUNDTRACK, "amazing": AMAZING}


def show() -> None:
    teaching.prose(
        "An *attention map* has a row for each word that attends and a column for each word attended to. Read along a "
        "row: it sums to 1. The same sentence, with other hand-made numbers and a causal mask. Numbers above 60 % of the "
        "largest weight are printed light on dark."
    )
    with teaching.messages():
        both = {f"Q = K of {word}": annotated_heatmap.QUERIES_AND_KEYS[place] for word, place in PLACES.items()}
        typed = teaching.vectors("annotated-heatmap", both)
        causal = st.toggle("Causal mask", value=True, key="annotated-heatmap.causal")
        trace = annotated_heatmap.compute(dict(zip(PLACES.values(), typed.values())), causal=causal)
    chart = heatmap(trace.weights, TOKENS, current_theme(), cell=34)
    show_chart(chart, _caption(trace), name="annotated heatmap")
    teaching.prose(
        "See the first rows: a row whose scores are all equal spreads evenly over what it may attend to. "
        "An even row tells you that the word had no preference, not that all these words matter."
    )


def _caption(trace: AttentionTrace) -> str:
    sentences = []
    for row in PLACES.values():
        top = float(trace.weights[row].max())
        most = [token for token, weight in zip(TOKENS, trace.weights[row].tolist()) if weight > 0.9 * top]
        sentences.append(f'"{TOKENS[row]}" attends most to {", ".join(most[:3])} ({top:.2f})')
    return "; ".join(sentences) + "."
