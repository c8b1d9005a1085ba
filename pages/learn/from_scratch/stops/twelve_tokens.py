"""S10: queries, keys and values set by hand on twelve tokens."""

import pandas as pd
import streamlit as st

from selfattn.charts import lesson_charts as charts
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.kernel import AttentionTrace
from selfattn.lessons import twelve_tokens
from selfattn.lessons.twelve_tokens import AMAZING, GOOD, NOT, TOKENS

TITLE = "A whole sentence: who turns “good”?"
STEP = "sentence"
OPTIONS = ("only not", "mostly not, but amazing too", "only itself")
PLACES = {"not": NOT, "good": GOOD, "amazing": AMAZING}


def show() -> None:
    parts.prose(
        "*The movie was not good , but the soundtrack was amazing .* Everything is 0 but three rows: as query and key, "
        "*not* is [20, 20], *good* is [0, 1], *amazing* is [19, 19]."
    )
    if not parts.predict("twelve-tokens", "Where does *good* look, without a mask?", OPTIONS, OPTIONS[1]):
        return
    with parts.messages():
        typed = parts.vectors("twelve-tokens", _published(), width=130)
        causal = st.toggle("Causal mask: no word sees a later one", key="twelve-tokens.causal")
        both = {PLACES[word]: typed[f"Q = K of {word}"] for word in PLACES}
        values = {PLACES[word]: typed[f"V of {word}"] for word in PLACES}
        found = twelve_tokens.compute(both, values, causal)
    _figures(found, causal)
    parts.prose(
        "**The reason,** with the published numbers: *good* asks for a large second number. Both *not* (20) and "
        "*amazing* (19) have one, and e to the difference over √2 is only 2. So two thirds go to *not* and one third "
        "leaks to *amazing*, six words later. With the causal mask *amazing* is still to come, and *not* takes it all. "
        '(The source\'s heading says "masked", but its printed numbers are those without a mask. Both are here.)'
    )


def _published() -> dict[str, tuple[float, float]]:
    both = {f"Q = K of {word}": twelve_tokens.QUERIES_AND_KEYS[place] for word, place in PLACES.items()}
    return both | {f"V of {word}": twelve_tokens.VALUES[place] for word, place in PLACES.items()}


def _figures(found: AttentionTrace, causal: bool) -> None:
    row = pd.DataFrame({"token": TOKENS, "weight": found.weights[GOOD].tolist()})
    first, second = row["weight"].nlargest(2).index
    context = ", ".join(f"{number:.8f}" for number in found.context[GOOD].tolist())
    with parts.row():
        with parts.figure("What “good” looks at", 360):
            reading = (
                f'"{TOKENS[first]}" {row.weight[first]:.2f}, "{TOKENS[second]}" {row.weight[second]:.2f}. '
                f"Context [{context}]."
            )
            show_chart(charts.bars(row, "weight", current_theme(), domain=(0, 1.25)), reading, width="content")
        with parts.figure("All rows", 520):
            chart = charts.heatmap(found.weights, TOKENS, TOKENS, current_theme(), numbers=False, highest=1.0, cell=28)
            even = sum(float(weights.max()) < 0.2 for weights in found.weights)
            reading = f"{even} of {len(TOKENS)} rows have no favourite (largest weight below .20)."
            show_chart(chart, reading + (" Above the diagonal all is 0." if causal else ""), width="content")
