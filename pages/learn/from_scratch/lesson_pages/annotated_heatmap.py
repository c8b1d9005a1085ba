"""The annotated heatmap: the thread's map, or the twelve tokens under a causal mask, every cell printed.

Source: the published figure, whose weights are printed with two decimals.
"""

import streamlit as st

from pages.learn.from_scratch.lesson_pages import twelve_tokens
from pages.learn.from_scratch.lesson_pages.twelve_tokens import AMAZING, OF_THE_MAP, TOKENS
from selfattn.analysis.what_if import causal_mask
from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import teaching
from selfattn.kernel import attend
from selfattn.lessons import one_head_by_hand
from selfattn.views.lesson import drawing

TITLE = "A whole sentence: read the map"
STEP = "softmax"
IDEA = (
    "An *attention map* has a row for each word that attends and a column for each word attended to. Read along a row: it sums "
    "to 1."
)
QUESTION = "Under a causal mask the third word may attend to three words, and prefers none. Its row?"
OPTIONS = (".33 .33 .33, then zeros", "all zero", "1 on itself")
REASON = "Equal scores get equal shares, here of the three words that are left."
TAKE = "Read a map row by row. An even row says that the word had no preference, not that all these words matter."


def show(picture) -> None:
    thread = teaching.example("annotated-heatmap", ("bank", "twelve tokens")) == "bank"
    causal = st.toggle("Causal mask", value=True, key="annotated-heatmap.causal")
    if thread:
        sentence = st.radio(
            "The other word", list(one_head_by_hand.WORDS), key="annotated-heatmap.sentence", horizontal=True
        )
        made = one_head_by_hand.compute(sentence)
        trace = attend(made.trace.query, made.trace.key, made.trace.value, causal_mask(5) if causal else None)
        tokens, row = made.words, one_head_by_hand.BANK
    else:
        published = {f"Q = K of {TOKENS[place]}": vector for place, vector in OF_THE_MAP.items()}
        typed = teaching.vectors("annotated-heatmap", published)
        trace = twelve_tokens.compute(dict(zip(OF_THE_MAP, typed.values())), causal=causal)
        tokens, row = TOKENS, AMAZING
    weights = trace.weights[row].tolist()
    most = " and ".join(f'"{token}"' for token, weight in zip(tokens, weights) if weight > 0.9 * max(weights))
    chart = drawing(heatmap, trace.weights, tokens, cell=80 if thread else 48)
    with picture:
        finding = f'"{tokens[row]}" attends most to {most}: {max(weights):.2f}.'
        teaching.steps("map", finding, {"Every weight of the sentence": chart}, "masked", "weights")
