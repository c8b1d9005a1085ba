"""The two spaces of one attention step: in one a query, to be dragged, meets keys; in the other the values are mixed.

Source: the picture of the worked example.
"""

import streamlit as st

from selfattn.dashboard import teaching
from selfattn.lessons import one_head_by_hand, worked_example
from selfattn.lessons.worked_example import TOKENS

TITLE = "Mix: the geometry"
STEP = "weighted sum"
IDEA = (
    "Queries and keys live in one space: there they are *compared*. Values live in another: there they are *mixed*, and only "
    "the weights pass from one to the other."
)
QUESTION = "The context averages the values by their weights. Can it lie beyond all of them?"
OPTIONS = ("no, never", "yes, with large scores", "yes, with a long query")
REASON = "All weights are above 0 and sum to 1, so the average lies between the values."
TAKE = "Keys decide how much, values decide what. A head moves a word only within what its words offer."
WORDS = ("bank", "of", "river")  # one word of each kind: "The" and "the" have the key and the value of "of"
PLACES = [one_head_by_hand.BANK, 2, one_head_by_hand.LAST]


def show(picture) -> None:
    if teaching.example("geometry", ("it", "bank")) == "it":
        trace, tokens, asks, text, back = worked_example.compute(), TOKENS, -1, "it", "Back to the published query"
    else:
        made = one_head_by_hand.compute().trace
        trace = worked_example.compute(made.query[one_head_by_hand.BANK], made.key[PLACES], made.value[PLACES])
        tokens, asks, text, back = WORDS, 0, "bank", "Back to the lesson’s query"
        st.text("“The” and “the” are left out. A zero vector is a dot.")
    st.text("Make the query longer, turn it, or bring it to 0: the scores, weights and context follow.")
    with picture:
        teaching.kernel(f"geometry, {text}", trace, tokens, asks, text, back=back)
