"""Hide one word from another by the mask, and see what the other becomes: in the hand-made head."""

import streamlit as st

from pages.learn.from_scratch.lesson_pages.residual import meaning
from selfattn.lessons.one_head_by_hand import BANK, LAST, WORDS, Bank, compute
from selfattn.numbers import decimal, vector, weight
from selfattn.views.stage import SHARE, Column, Scene

TITLE = "Hide a word"
STEP = "context"
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


def draw(answered: bool) -> Scene:
    sentence, hidden = "river", LAST
    if answered:
        sentence = st.radio("The other word", list(WORDS), key="hide-a-word.sentence", horizontal=True)
        words = WORDS[sentence]
        others = [at for at in range(len(words)) if at != BANK]
        hidden = st.selectbox(
            "Hide from “bank”", others, len(others) - 1, lambda at: f"{at + 1} {words[at]}", key="hide-a-word.hidden"
        )
    words, before, after = WORDS[sentence], compute(sentence), compute(sentence, hidden=hidden)
    left = 1 - float(before.trace.weights[BANK, hidden])
    shares = [made.trace.weights[BANK] for made in (before, after)]
    lines = [
        f"{word}: hidden, so e^−∞ = 0"
        if at == hidden
        else f"{word}: {decimal(one, 3)} / {decimal(left, 3)} = {weight(other)} (rounded)"
        for at, (word, one, other) in enumerate(zip(words, *(each.tolist() for each in shares)))
    ]  # fmt: skip
    as_it_is, without = (decimal(each[BANK]) for each in shares)
    return Scene(
        f'With "{words[hidden]}" hidden, "bank" gives itself {without} instead of {as_it_is}.',
        words,
        (
            Column("masked", "score ÷ √2, masked", after.trace.masked[BANK], (-3.0, 3.0)),
            Column("weights", "weight as it is", shares[0], SHARE),
            Column("hidden", "with it hidden", shares[1], SHARE, asked=True),
        ),
        (meaning(before, before.total, after.total),),
        asks=BANK,
        lit=BANK,
        hidden=hidden,
        lines=lines,
        note=f"As it is: {_sum(before)}. Hidden: {_sum(after)}. Rounded.",
    )


def _sum(made: Bank) -> str:
    """What is added to what: the word's own numbers, half of each weight times its value, and the result."""
    both = zip(made.trace.weights[BANK], made.trace.value)
    terms = " + ".join(f"{decimal(weight, 3)} × {vector(value)}" for weight, value in both if weight and value.any())
    return f"[1, 1] + ½ × ({terms or 0}) = {vector(made.total[:2], 2)}"
