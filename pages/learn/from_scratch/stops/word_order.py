"""Without positions, order is invisible."""

import streamlit as st

from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import teaching
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.dashboard.figures import current_theme, show_error
from selfattn.lessons import word_order
from selfattn.numbers import error

TITLE = "Order must be added"
STEP = "consequences"
IDEA = (
    "A weighted sum doesn't know the order of its terms. So without something that tells where each word stands, *dog bites man* "
    "and *man bites dog* are the same to attention."
)
QUESTION = "What does *dog* get in the second sentence, compared with the first?"
OPTIONS = ("the very same vector", "a different vector", "nothing, it fails")
TAKE = "Order must be added to the embeddings: attention itself doesn't see it."
MOST = 8


def show(*_) -> None:
    published = {"order.words": " ".join(word_order.SENTENCE)}
    with teaching.row():
        st.session_state.setdefault("order.words", published["order.words"])
        words = st.text_input("Your words, two to eight", key="order.words", width=300).split()
        teaching.reset("order", published, "Reset the words")
    if not 2 <= len(words) <= MOST or len(set(words)) < len(words):
        show_error(
            f"Expected two to {MOST} different words, got {len(words)} ({len(set(words))} different). Change them."
        )
        return
    positions = st.toggle("Add a vector for each position", key="order.positions")
    shuffled = word_order.shuffle(words, range(len(words))[::-1], positions=positions)
    with teaching.row():
        for title, trace, tokens in (
            ("Your order", shuffled.first, shuffled.tokens),
            ("The other way round", shuffled.second, shuffled.shuffled_tokens),
        ):
            row = trace.weights[tokens.index(words[0])].tolist()
            weights = ", ".join(f"{token} {weight:.2f}" for token, weight in zip(tokens, row))
            chart = heatmap(trace.weights, tokens, current_theme(), maximum=1.0, cell=52)
            teaching.figure(title, chart, f"{words[0]} attends to: {weights}.", 300 if len(words) < 5 else 460)
    st.expander("Details").text(
        f"Largest difference between a word's context in one order and in the other: {error(shuffled.difference)}"
    )
    teaching.prose(
        "**Shuffling the words only shuffles the rows.** A sum doesn't know the order of its terms."
        if shuffled.difference < 1e-9
        else "**With positions the two sentences differ.** The word's vector now says where it stands, too."
    )
    teaching.code("scores", "context")
    _on_encoder()


def _on_encoder() -> None:
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
    st.text(f"Without positions the two vectors differ by {error(check.difference_without)} at most.")
