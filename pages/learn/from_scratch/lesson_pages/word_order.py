"""Without positions, order is invisible."""

import streamlit as st

from selfattn.dashboard import teaching
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.dashboard.figures import show_error
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
REASON = "Its score with each word is the same, and a sum has no order. So two equal words in one sentence come out equal, too."
TAKE = "Order must be added to the embeddings: attention itself doesn't see it."
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
    charts, said = {}, []
    for name, title, trace, tokens in (
        ("weights", "Your order", shuffled.first, words),
        ("weights of the other", "The other way round", shuffled.second, words[::-1]),
    ):
        row = trace.weights[tokens.index(words[0])].tolist()
        said.append(", ".join(f"{token} {weight:.2f}" for token, weight in zip(tokens, row)))
        charts[name] = title, teaching.small_map(trace.weights, tokens, maximum=1.0)
    with picture:
        caption = f"{words[0]} attends to: {said[0]}. The other way round: {said[1]}."
        teaching.steps(charts, caption, ("scores", "weights", "context"))
        teaching.prose(
            "**Shuffling the words only shuffles the rows.** A sum doesn't know the order of its terms."
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
