"""Attention is not symmetric."""

import streamlit as st

from selfattn.charts.lesson_steps import kernel_code
from selfattn.dashboard import teaching
from selfattn.lessons import not_symmetric

TITLE = "Not symmetric"
STEP = "consequences"
IDEA = (
    "Every two words are compared directly, in both directions and at any distance. The weights are not symmetric: what one "
    "word gives another is not what it gets back."
)
QUESTION = "Even if the scores were the same in both directions: would the weights be?"
OPTIONS = ("no: softmax makes each row sum to 1 by itself", "yes", "only for neighbours")
REASON = "Each row is divided by its own sum, and the two sums differ."
TAKE = (
    "Both directions of every pair are compared in one step; query differs from key, and each row has its own budget."
)


def show(picture, numbers) -> None:
    with numbers:
        _, encoding, head = teaching.choose_head("not-symmetric", "The bank of the river was muddy after the rain.")
        n = len(encoding.tokens)
        st.text(
            f"{n} tokens: {n * (n - 1) // 2} pairs, each compared in both directions, the furthest {n - 1} apart, all in one "
            "step."
        )
    tokens, weights = encoding.tokens, encoding.weights(*head)
    most = not_symmetric.asymmetry(weights)
    a, b = tokens[most.row], tokens[most.column]
    charts = {
        "weights": ("Weights of this head", teaching.small_map(weights, tokens)),
        "difference": ("Forth minus back", teaching.small_map(weights - weights.T, tokens, kind="signed")),
    }
    caption = (
        f'"{a}" gives "{b}" {most.forth:.2f}; "{b}" gives "{a}" {most.back:.2f}. Over all pairs the two directions differ by '
        f"{most.mean_difference:.2f} on average."
    )
    code = kernel_code("scores", "weights") | {"difference": "difference = weights - weights.T   # not in attention"}
    with picture:
        teaching.steps(charts, caption, code)
