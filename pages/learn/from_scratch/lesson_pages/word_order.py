"""Without positions, order is invisible."""

from typing import Any

import streamlit as st

from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import teaching
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.dashboard.figures import current_theme, show_error
from selfattn.lessons import word_order
from selfattn.numbers import decimal, error

TITLE = "Order must be added"
STEP = "embeddings"
IDEA = (
    "Nothing so far says where a word stands: embeddings, queries and keys are made of the words alone. A context adds up "
    "values."
)
QUESTION = "*dog bites man*, then *man bites dog*. In which does the context of *dog* hold more of *man*?"
OPTIONS = ("in neither: it is the same vector", "in the second, where dog is bitten", "in the first, where dog bites")
REASON = "Its score with each word is the same, and a sum has no order. So two equal words in one sentence come out equal, too."
TAKE = "Attention itself doesn't see order: it must be added to the embeddings."
MOST = 8


def show(picture, numbers) -> None:
    published = {"order.words": " ".join(word_order.SENTENCE)}
    with numbers:
        for key, value in published.items():
            st.session_state.setdefault(key, value)
        words = st.text_input("Your words, two to eight", key="order.words").split()
        teaching.reset("order", published, "Reset the words")
        if not 2 <= len(words) <= MOST or len(set(words)) < len(words):
            show_error(
                f"Expected two to {MOST} different words, got {len(words)} ({len(set(words))} different). Change them."
            )
            return
        positions = st.toggle("Add a vector for each position", key="order.positions")
        shuffled = word_order.shuffle(words, positions)
        details = st.expander("Details")
        details.text(f"A word's context in one order and in the other differs by {error(shuffled.difference)} at most.")
        _on_encoder(details)
    charts = {}
    for name, title, trace, order in (
        ("context", "Contexts, your order", shuffled.first, words),
        ("context of the other", "The other way round", shuffled.second, words[::-1]),
    ):
        columns = [str(n + 1) for n in range(trace.context.shape[1])]
        looks: dict[str, Any] = {
            "columns": columns,
            "names": ("word", "number"),
            "kind": "signed",
            "maximum": 2.0,
            "cell": (32, 36),
        }
        charts[name] = title, heatmap(trace.context, order, current_theme(), **looks)
    with picture:
        mean, most = float(shuffled.first.weights.amax(-1).mean()), decimal(shuffled.difference)
        caption = (
            f"The same word's two contexts differ by up to {most}. A row's largest weight is {decimal(mean)} on average: no "
            "word takes all."
        )
        teaching.steps(charts, caption, ("scores", "weights", "context"))
        teaching.prose(
            "**Shuffling the words only shuffles the rows.**"
            if shuffled.difference < 1e-9
            else "**With positions the two sentences differ.** The word's vector now says where it stands, too."
        )


def _on_encoder(details) -> None:
    """Dog bites man on the real encoder, with and without its positions."""
    teaching.prose("**On the real encoder.** The same two sentences; then once more with position 0 for every token.")
    try:
        check = word_order.compare_orders(current_encoder(), "dog bites man", "man bites dog", "dog")
    except ValueError as refusal:
        st.text(str(refusal))
        return
    with st.container(horizontal=True):
        st.metric("Cosine of the two “dog”, positions as usual", f"{check.with_positions:.3f}", width="content")
        st.metric("All at one position", f"{check.without_positions:.3f}", width="content")
    details.text(f"Without positions the two vectors differ by {error(check.difference_without)} at most.")
