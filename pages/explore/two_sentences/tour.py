"""The tour of the main view: four short stops in a popover, so that nothing on the page moves."""

import streamlit as st

STOPS = (
    (
        "One word, two sentences",
        "The same word stands in both sentences, and the encoder looks it up as the same vector. The shading shows how much "
        "of its attention the word gives to each word in the chosen head: the weights of one row sum to 1.",
    ),
    (
        "What does removing a head change?",
        "The map has one cell for each head. Its colour tells what happens to the difference between the two vectors when "
        "that head is removed. Click a cell, or move the slider with the arrow keys. Compare with the control.",
    ),
    (
        "How the head gets there",
        "Scores, scaled, masked, weights, times values, context: each step is recomputed from scratch with the real "
        "numbers, and the largest difference to the model's own result is printed beside it.",
    ),
    (
        "Where the vectors part",
        "The curve follows the two vectors through the layers. Switch attention off, and read beside it what is left of "
        "their difference: at the same position, in most encoders, nothing, to the last bit.",
    ),
)


def show_tour() -> None:
    """The button at the top right and the stop behind it."""
    stop = st.session_state.setdefault("tour", 0)
    with st.popover(f"What am I seeing? {stop + 1}/{len(STOPS)}", icon=":material/help:"):
        title, text = STOPS[stop]
        st.markdown(f"**{title}**")
        st.write(text)
        back, forward = st.columns(2)
        back.button("Back", disabled=stop == 0, on_click=_go, args=(stop - 1,), width="stretch")
        forward.button("Next", disabled=stop == len(STOPS) - 1, on_click=_go, args=(stop + 1,), width="stretch")


def _go(stop: int) -> None:
    st.session_state.tour = stop
