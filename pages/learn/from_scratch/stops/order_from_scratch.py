"""S20: without positions, order is invisible."""

import streamlit as st

from pages.learn.from_scratch.real_heads import order_on_encoder
from selfattn.charts import lesson_charts as charts
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.figures import current_theme, show_chart, show_error
from selfattn.lessons import order_from_scratch as order

TITLE = "Order must be added"
STEP = "consequences"
MOST = 8
OPTIONS = ("a different vector", "the very same vector", "nothing, it fails")


def show() -> None:
    parts.prose(
        "*Dog bites man* and *man bites dog* hold the same words. Feed both to self-attention, without telling it "
        "where each word stands."
    )
    question = "What does *dog* get in the second sentence, compared with the first?"
    if not parts.predict("order", question, OPTIONS, OPTIONS[1]):
        return
    published = {"order.words": " ".join(order.SENTENCE)}
    with parts.row():
        st.session_state.setdefault("order.words", published["order.words"])
        typed = st.text_input("Your words, two to eight", key="order.words", width=300)
        parts.reset("order", published, "Reset the words")
    words = typed.split()
    if not 2 <= len(words) <= MOST or len(set(words)) < len(words):
        show_error(
            f"Expected two to {MOST} different words, got {len(words)} ({len(set(words))} different). Change them."
        )
        return
    positions = st.toggle("Add a vector for each position", key="order.positions")
    found = order.shuffle(words, range(len(words))[::-1], positions=positions)
    theme = current_theme()
    asked = words[0]
    with parts.row():
        for name, trace, tokens in (
            ("Your order", found.first, found.tokens),
            ("The other way round", found.second, found.shuffled_tokens),
        ):
            with parts.figure(name, 300 if len(words) < 5 else 460):
                row = tokens.index(asked)
                weights = ", ".join(f"{token} {float(w):.2f}" for token, w in zip(tokens, trace.weights[row]))
                chart = charts.heatmap(trace.weights, tokens, tokens, theme, highest=1.0, cell=52)
                show_chart(chart, f"{asked} looks at: {weights}.", width="content")
    same = found.difference < 1e-9
    st.text(f"Largest difference between a word's context in one order and in the other: {found.difference:.1e}")
    parts.prose(
        "**Shuffling the words only shuffles the rows.** A sum doesn't know the order of its terms."
        if same
        else "**With positions the two sentences part.** The word's vector now says where it stands, too."
    )
    order_on_encoder()
