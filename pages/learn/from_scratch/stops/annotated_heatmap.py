"""S11: the annotated heatmap."""

import streamlit as st

from selfattn.charts import lesson_charts as charts
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.kernel import AttentionTrace
from selfattn.lessons import annotated_heatmap
from selfattn.lessons.twelve_tokens import AMAZING, GOOD, NOT, SOUNDTRACK, TOKENS

TITLE = "A whole sentence: read the map"
STEP = "sentence"
PLACES = {"not": NOT, "good": GOOD, "soundtrack": SOUNDTRACK, "amazing": AMAZING}


def show() -> None:
    parts.prose(
        "An *attention map* has a row for each word that looks and a column for each word looked at. Read along a row: "
        "it sums to 1. The same sentence, with other hand-made numbers and a causal mask. Numbers above 60 % of the "
        "largest weight are printed light on dark."
    )
    with parts.messages():
        both = {f"Q = K of {word}": annotated_heatmap.QUERIES_AND_KEYS[place] for word, place in PLACES.items()}
        typed = parts.vectors("annotated-heatmap", both, width=150)
        causal = st.toggle("Causal mask", value=True, key="annotated-heatmap.causal")
        found = annotated_heatmap.compute(dict(zip(PLACES.values(), typed.values())), causal=causal)
    chart = charts.heatmap(found.weights, TOKENS, TOKENS, current_theme(), cell=34)
    show_chart(chart, _reading(found), width="content")
    parts.prose(
        "Look at the first rows: a row whose scores are all alike spreads evenly over what it may see. "
        "An even row tells you that the word had no preference, not that all these words matter."
    )


def _reading(found: AttentionTrace) -> str:
    said = []
    for row in PLACES.values():
        weights = found.weights[row]
        most = [TOKENS[place] for place in range(len(TOKENS)) if float(weights[place]) > 0.9 * float(weights.max())]
        said.append(f'"{TOKENS[row]}" looks most at {", ".join(most[:3])} ({float(weights.max()):.2f})')
    return "; ".join(said) + "."
