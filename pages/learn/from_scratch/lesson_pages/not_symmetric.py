"""Attention is not symmetric, even where the scores are: softmax normalises each row by itself."""

import streamlit as st

from selfattn.dashboard import teaching
from selfattn.kernel import attend
from selfattn.lessons import one_head_by_hand
from selfattn.numbers import weight

TITLE = "Forth and back"
STEP = "softmax"
IDEA = (
    "Every two words are compared directly, in both directions and at any distance: n × n scores in one step. Here queries serve "
    "as keys, so each score is the same forth and back."
)
QUESTION = "*bank* and *river* have the same score forth and back. Do they give each other the same weight?"
OPTIONS = ("no, river gives bank far less", "yes, the same", "no, river gives bank far more")
REASON = "Each row has a sum of its own: *river* scores 9 with itself, which leaves little for *bank*."
TAKE = "Compared in both directions, yes; symmetric, no: each row is divided by its own sum. Real heads have other keys, too."
EQUAL, REAL = "equal scores", "a real head"


def show(picture, answered) -> None:
    if teaching.example("not-symmetric", (EQUAL, REAL)) == REAL:
        _, encoding, head = teaching.choose_head("not-symmetric", "The bank of the river was muddy after the rain.")
        trace, tokens = encoding.trace(*head), encoding.tokens
    else:
        query, tokens = one_head_by_hand.compute().trace.query, one_head_by_hand.WORDS["river"]
        trace = attend(query, query, query)
    n = len(tokens)
    st.text(f"{n} tokens: {n * (n - 1) // 2} pairs, each compared in both directions, the furthest {n - 1} apart.")
    difference = trace.weights - trace.weights.T
    row, column = divmod(int(difference.argmax()), n)  # where forth and back differ most
    a, b = tokens[row], tokens[column]
    weights = trace.weights if answered else teaching.blank(trace.weights, row, column)
    charts = {
        "Scores": teaching.small_map(trace.scores, tokens, kind="signed"),
        "Weights": teaching.small_map(weights, tokens, maximum=1.0),
    }
    finding = (
        f'"{a}" gives "{b}" a weight of {weight(float(trace.weights[row, column]))}, "{b}" gives "{a}" '
        f"{weight(float(trace.weights[column, row]))}."
    )
    scores = weight(float((trace.scores - trace.scores.T).abs().max()))
    with picture:
        note = f"Scores differ by up to {scores} between forth and back."
        teaching.steps("forth and back", finding, charts, "scores", "weights", note=note, answered=answered)
