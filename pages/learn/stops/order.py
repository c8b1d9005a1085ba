"""S20: without positions, order is invisible."""

import streamlit as st

from pages.learn import parts
from pages.learn.real_heads import order_on_encoder
from selfattn.dashboard.show import current_theme, show_chart
from selfattn.lessons import charts, order

TITLE = "Order must be added"
STEP = "consequences"
OPTIONS = ("a different vector", "the very same vector", "nothing, it fails")


def show() -> None:
    parts.prose(
        "*Dog bites man* and *man bites dog* hold the same words. Feed both to self-attention, without telling it "
        "where each word stands."
    )
    question = "What does *dog* get in the second sentence, compared with the first?"
    if not parts.predict("order", question, OPTIONS, OPTIONS[1]):
        return
    positions = st.toggle("Add a vector for each position", key="order.positions")
    found = order.shuffle(positions=positions)
    theme = current_theme()
    with parts.row():
        for name, trace, tokens in (
            ("Dog bites man", found.first, found.tokens),
            ("Man bites dog", found.second, found.shuffled_tokens),
        ):
            with parts.figure(name, 300):
                row = tokens.index("dog")
                weights = ", ".join(f"{tokens[c]} {float(trace.weights[row, c]):.2f}" for c in range(3))
                chart = charts.heatmap(trace.weights, tokens, tokens, theme, highest=1.0, cell=52)
                show_chart(chart, f"dog looks at: {weights}.", width="content")
    same = found.difference < 1e-9
    st.text(f"Largest difference between a word's context in one order and in the other: {found.difference:.1e}")
    parts.prose(
        "**Shuffling the words only shuffles the rows.** A sum doesn't know the order of its terms."
        if same
        else "**With positions the two sentences part.** The word's vector now says where it stands, too."
    )
    order_on_encoder()
