"""The causal mask and three things that look like it."""

from collections.abc import Sequence

import streamlit as st
import torch

from pages.learn.from_scratch.lesson_pages import twelve_tokens
from selfattn.analysis.what_if import causal_mask, four_ways
from selfattn.dashboard import teaching
from selfattn.lessons.one_head_by_hand import WORDS, compute

TITLE = "Normalise: the causal mask"
STEP = "softmax"
IDEA = (
    "In a model that writes word by word, a word attends to itself and earlier words, never to later ones. So before softmax "
    "each later word's score is set to −∞, and softmax turns that into a weight of exactly 0."
)
QUESTION = "Why not simply multiply the *scores* of later words by 0, before softmax? What would later words weigh?"
OPTIONS = ("they still count", "they weigh nothing", "the weights no longer sum to 1")
REASON = (
    "A score of 0 is not a weight of 0, for e⁰ = 1. Multiplying the *weights* by 0 does silence words, but then a row no longer "
    "sums to 1; dividing by the row's sum repairs that. Adding −∞ does both at once."
)
TAKE = "A mask adds −∞ before softmax. Under a causal one *bank* cannot see the later *river*; an encoder has none."
LINES = (  # of the four ways, in their order
    "weights = softmax(scaled.masked_fill(~allowed, -inf))",
    "weights = softmax(scaled * allowed)",
    "weights = softmax(scaled) * allowed",
    "weights = w * allowed / (w * allowed).sum(-1)   # w = softmax(scaled)",
)
WHERE = {"the words after it": "j > i", "the word itself": "j = i", "the special tokens": r"j \text{ is special}"}
HAND_MADE = {"first": twelve_tokens.QUERIES_AND_KEYS, "second": twelve_tokens.OF_THE_MAP}
SOURCES = {
    "bank": "bank of the river",
    "first": "the first hand-made sentence",
    "second": "the second hand-made sentence",
    "real": "my own sentence, a real head",
}


def show(picture, answered) -> None:
    source = teaching.example("causal-mask", SOURCES, "Take the queries and keys of", "source")
    special: Sequence[bool] = ()
    if source == "real":
        _, encoding, head = teaching.choose_head("causal-mask", "The cat sat on the mat because it was tired.")
        trace, tokens, special = encoding.trace(*head), encoding.tokens, encoding.special
    elif source == "bank":
        trace, tokens = compute().trace, WORDS["river"]
    else:
        trace, tokens = twelve_tokens.compute(HAND_MADE[source]), twelve_tokens.TOKENS
    n = len(tokens)
    allowed = {"the words after it": causal_mask(n), "the word itself": ~torch.eye(n, dtype=torch.bool)}
    if any(special):
        allowed["the special tokens"] = ~torch.tensor(special).expand(n, n)
    hidden = st.radio("Hide from each word", list(allowed), key="causal-mask.hidden")
    ways = four_ways(trace, allowed[hidden])
    first, scores, cut, _ = ways
    charts = {
        way.name.capitalize(): teaching.small_map(
            way.weights if answered or way is first else teaching.blank(way.weights), tokens, maximum=1.0
        )
        for way in ways
    }
    finding = (
        f"With the scores times 0, hidden words keep up to {scores.leaked.max():.2f} of a row; with the weights times 0, a row "
        f"sums to as little as {cut.weights.sum(-1).min():.2f}."
    )
    with picture:
        teaching.steps("four ways", finding, charts, *LINES, columns=2, answered=answered)
        if not answered:
            return
        st.code("\n".join(LINES), language=None, wrap_lines=True)
        teaching.formula(r"w = \mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}} + M\right)")
        # A line of its own: it fits a narrow window.
        teaching.formula(r"M_{ij} = -\infty \text{ where } " + WHERE[hidden])
