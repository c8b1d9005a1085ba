"""Hide one word from another by the mask, and see what the other becomes: in the hand-made head."""

import streamlit as st
import torch

from selfattn.charts.bars import Row, bars
from selfattn.charts.heatmap import heatmap
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec
from selfattn.dashboard import teaching
from selfattn.lessons.one_head_by_hand import ABOUT, BANK, WORDS, Bank, compute
from selfattn.numbers import decimal, vector
from selfattn.views.lesson import drawing

TITLE = "Hide a word"
STEP = "softmax"
IDEA = (
    "Which word gives *bank* its meaning here? Ask by the mask: hide *one* word from *bank* alone, −∞ in one place, and look at "
    "*bank* again. All other words still see it."
)
QUESTION = (
    "Scores ÷ √2 give *river* 0.63 of the attention of *bank*, *bank* 0.31. Hide *river*: what does *bank* give itself?"
)
OPTIONS = ("0.85", "0.31, as before", "0.94, all that river had and its own")
REASON = "The 0.63 goes to all that is left, in proportion: 0.312 / (1 − 0.633) = 0.85."
TAKE = "Hidden, *river* gives nothing, and *bank* stays undecided: so this is the word that its meaning came from."


def show(picture) -> None:
    sentence = st.radio("The other word", list(WORDS), key="hide-a-word.sentence", horizontal=True)
    words = WORDS[sentence]
    others = [at for at in range(len(words)) if at != BANK]
    hidden = st.selectbox(
        "Hide from “bank”", others, len(others) - 1, lambda at: f"{at + 1} {words[at]}", key="hide-a-word.hidden"
    )
    made = {"as it is": compute(sentence), "hidden": compute(sentence, hidden=hidden)}

    def both(step: str, theme: Theme) -> Spec:
        rows = [
            Row(which, getattr(each.trace, step)[BANK].tolist(), words, color)
            for (which, each), color in zip(made.items(), (theme.muted, theme.weights[4]))
        ]
        return bars(rows, theme, what="", width=170, height=80)

    after = torch.stack([each.total[:2] for each in made.values()])
    looks = {"columns": ABOUT[:2], "kind": "signed", "names": ("", "about"), "cell": (56, 60)}
    charts = {
        "Masked scores": drawing(both, "masked"),
        "Weights": drawing(both, "weights"),
        "“bank” afterwards": drawing(heatmap, after, tuple(made), **looks),
    }
    with picture:
        before, without = (each.trace.weights[BANK, BANK] for each in made.values())
        teaching.steps(
            "hidden word",
            f'With "{words[hidden]}" hidden, "bank" gives itself {decimal(without)} instead of {decimal(before)}.',
            charts,
            *("masked", "weights", "context", "total = embedding + context @ w_output"),
            note=f"Half of all weights × values is added. As it is: {_sum(made['as it is'])}. Hidden: {_sum(made['hidden'])}.",
        )


def _sum(made: Bank) -> str:
    """What is added to what: the word's own numbers, half of each weight times its value, and the result."""
    both = zip(made.trace.weights[BANK], made.trace.value)
    terms = " + ".join(f"{decimal(weight, 3)} × {vector(value)}" for weight, value in both if weight and value.any())
    return f"[1, 1] + ½ × ({terms or 0}) = {vector(made.total[:2], 2)}"
