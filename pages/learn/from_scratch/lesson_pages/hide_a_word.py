"""Hide one word from another by the mask, and see what the other becomes: in the hand-made head."""

import streamlit as st
import torch

from selfattn.charts.heatmap import heatmap
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
    after = torch.stack([each.total[:2] for each in made.values()])
    looks = {"columns": ABOUT[:2], "kind": "signed", "names": ("", "about"), "cell": (56, 60)}
    with picture:
        before, without = (each.trace.weights[BANK, BANK] for each in made.values())
        finding = f'With "{words[hidden]}" hidden, "bank" gives itself {decimal(without)} instead of {decimal(before)}.'
        teaching.kernel("hide-a-word", made["hidden"].trace, words, BANK, finding=finding)
        charts = {"“bank” afterwards": drawing(heatmap, after, tuple(made), **looks)}
        note = f"As it is: {_sum(made['as it is'])}. Hidden: {_sum(made['hidden'])}."
        finding, code = "Half of all weights × values is added.", "total = embedding + context @ w_output"
        teaching.steps("afterwards", finding, charts, code, note=note)


def _sum(made: Bank) -> str:
    """What is added to what: the word's own numbers, half of each weight times its value, and the result."""
    both = zip(made.trace.weights[BANK], made.trace.value)
    terms = " + ".join(f"{decimal(weight, 3)} × {vector(value)}" for weight, value in both if weight and value.any())
    return f"[1, 1] + ½ × ({terms or 0}) = {vector(made.total[:2], 2)}"
