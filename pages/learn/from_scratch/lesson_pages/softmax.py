"""Softmax on a row of scores, and the budget that its weights share."""

import streamlit as st

from selfattn.captions.terms import TERMS
from selfattn.charts.bars import bar_list
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.lessons import one_head_by_hand, softmax
from selfattn.numbers import decimal, plain

TITLE = "Normalise: softmax"
STEP = "softmax"
IDEA = (
    f"{TERMS['softmax']} Only what comes out is called *weights*: a row of them is a budget of 1, like a highlighter with just "
    "so much ink."
)
QUESTION = "*The* has the score −2, *river* has 3. What does *The* get?"
OPTIONS = ("a small weight, above 0", "nothing", "a negative weight")
REASON = "With √2 beneath the scores, e to each is 0.24, 4.11, 0.24, 0.24 and 8.34, in all 13.18: *The* gets 0.24 / 13.18 = 0.02."
TAKE = "Weights are above 0 and sum to 1: what one word gains, the others lose. A score of 0 is not a weight of 0."
SOURCE = "good, not, the"


def show(picture, numbers) -> None:
    river = one_head_by_hand.compute().trace
    examples = {
        "bank": (river.query[one_head_by_hand.BANK].tolist(), one_head_by_hand.WORDS["river"], river.key.tolist()),
        SOURCE: (softmax.QUERY, softmax.TOKENS, softmax.KEYS),
    }
    with numbers, teaching.messages():
        query, tokens, keys = examples[teaching.example("three-words", tuple(examples))]
        names = [f"{place + 1} {token}" for place, token in enumerate(tokens)]
        wanted, *typed = teaching.vectors("three-words", {"query": query, **dict(zip(names, keys))}, 110).values()
        st.markdown("**The budget**")
        place = tokens.index("river") if "river" in tokens else 0
        more = st.slider(f"Raise the score of {tokens[place]} by", -3.0, 5.0, 0.0, 0.5, key="three-words.more")
        others = st.slider("More words with the score 0", 0, 200, 0, key="three-words.others")
        steps = softmax.steps(wanted, typed, tokens, place, more, others)
        teaching.formula(r"w_i = \frac{e^{s_i}}{\sum_j e^{s_j}} \qquad s_i = \frac{q\cdot k_i}{\sqrt{d_k}}")
    titles = {"scores": "Score", "scaled": "÷ √d_k", "exponentials": "e to that", "weights": "÷ their sum"}
    columns = {"scores": "score", "scaled": "scaled", "exponentials": "exponential", "weights": "weight"}
    charts = {
        name: (title, bar_list(steps, columns[name], current_theme(), width=84)) for name, title in titles.items()
    }
    with picture:
        rest = f" The {others} more words share the rest." if others else " = 1." if not more else "."
        weights = " + ".join(decimal(weight) for weight in steps.weight)
        caption = f"Scores from {plain(steps.score.min())} to {plain(steps.score.max())}; {weights}{rest}"
        teaching.steps(charts, caption, ("scores", "scaled", "exponentials", "total", "weights"))
        teaching.prose(
            "A *scaled* score that is larger by 1 gets e ≈ 2.7 times the weight; scores ten times as large raise each weight to "
            "the tenth power, shared out anew: one word is left. Among many words even a good score is diluted. (The kernel "
            "first subtracts the largest score: same weights.)"
        )
        teaching.real_head("weights")
