"""Attention is not symmetric."""

import streamlit as st

from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.lessons import not_symmetric

TITLE = "Not symmetric"
STEP = "consequences"
IDEA = (
    "Every pair of words is compared directly, in both directions and at any distance: some call that symmetric. The weights are "
    "not: what *river* gives *bank* is not what *bank* gives *river*."
)
QUESTION = "Even if the scores were the same in both directions: would the weights be?"
OPTIONS = ("no: softmax makes each row sum to 1 by itself", "yes", "only for neighbours")
TAKE = (
    "Both directions of every pair are compared in one step; query differs from key, and each row has its own budget."
)


def show(*_) -> None:
    _, encoding, head = teaching.choose_head("not-symmetric", "The bank of the river was muddy after the rain.")
    n = len(encoding.tokens)
    st.text(
        f"{n} tokens: {n * (n - 1) // 2} pairs, each compared in both directions, the furthest {n - 1} apart, all in one step."
    )
    tokens, weights, theme = encoding.tokens, encoding.weights(*head), current_theme()
    most = not_symmetric.asymmetry(weights)
    a, b = tokens[most.row], tokens[most.column]
    with teaching.row():
        chart = heatmap(weights, tokens, theme, cell=28, numbers=None)
        caption = f'"{a}" gives "{b}" {most.forth:.2f}; "{b}" gives "{a}" {most.back:.2f}.'
        teaching.figure("Weights of this head", chart, caption, 560)
        chart = heatmap(weights - weights.T, tokens, theme, kind="signed", cell=28, numbers=None)
        caption = f"Over all pairs the two directions differ by {most.mean_difference:.2f} on average."
        teaching.figure("Forth minus back", chart, caption, 560)
    teaching.code("scores", "weights")
