"""The causal mask and three things that look like it."""

import streamlit as st
import torch

from selfattn.analysis.what_if import causal_mask, four_ways
from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.lessons import annotated_heatmap, bank, twelve_tokens

TITLE = "Normalise: the causal mask"
STEP = "softmax"
IDEA = (
    "A model that writes word by word must not attend to words that are still to come. So before softmax each later word's score "
    "is set to −∞, and softmax turns that into a weight of exactly 0."
)
QUESTION = "Why not simply multiply the *scores* of later words by 0, before softmax? What would later words weigh?"
OPTIONS = ("they still count", "they weigh nothing", "the weights no longer sum to 1")
TAKE = "A mask adds −∞ before softmax. Under a causal one *bank* cannot see *river*, which comes later; an encoder has none."
BANK = "bank of the river"
HAND_MADE = {"the first hand-made sentence": twelve_tokens, "the second hand-made sentence": annotated_heatmap}
REAL = "my own sentence, a real head"


def show(*_) -> None:
    teaching.formula(
        r"w = \mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt d} + M\right) \qquad M_{ij} = -\infty \text{ where } j > i"
    )
    source = st.radio(
        "Take the queries and keys of", [BANK, *HAND_MADE, REAL], key="causal-mask.source", horizontal=True
    )
    if source == REAL:
        _, encoding, head = teaching.choose_head("causal-mask", "The cat sat on the mat because it was tired.")
        trace, tokens, special = encoding.trace(*head), encoding.tokens, encoding.special
    elif source == BANK:
        trace, tokens, special = bank.compute().trace, bank.WORDS["river"], (False,)
    else:
        trace, tokens, special = HAND_MADE[source].compute(causal=False), twelve_tokens.TOKENS, (False,)
    n = len(tokens)
    allowed = {"the words after it": causal_mask(n), "the word itself": ~torch.eye(n, dtype=torch.bool)}
    if any(special):
        allowed["the special tokens"] = ~torch.tensor(special).expand(n, n)
    hidden = st.radio("Hide from each word", list(allowed), key="causal-mask.hidden", horizontal=True)
    with teaching.row():
        for way in four_ways(trace, allowed[hidden]):
            sums = way.weights.sum(-1)
            caption = (
                f"Rows sum to {sums.min():.2f} to {sums.max():.2f}; "
                f"at most {way.leaked.max():.2f} of a row falls on what is hidden."
            )
            looks = {"cell": 36} if n < 7 else {"cell": 26, "numbers": None}
            chart = heatmap(way.weights, tokens, current_theme(), maximum=1.0, **looks)
            teaching.figure(way.name.capitalize(), chart, caption, 270 if n < 7 else 480)
    teaching.code("masked", "weights")
    teaching.prose(
        "**The reason:** a score of 0 is not a weight of 0, for e⁰ = 1: the hidden words still count. Multiplying the "
        "*weights* by 0 does silence them, but then a row no longer sums to 1. Dividing by the row's sum repairs that, "
        "and gives the first case again. Adding −∞ does both at once."
    )
