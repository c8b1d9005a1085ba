"""Softmax on a row of scores, and the budget that its weights share.

Source: the published numeric example, scores 1, 0.5 and 0, whose weights are printed as .46, .32 and .22; it stops before
the values.
"""

import streamlit as st
import torch
from torch import Tensor

from selfattn.dashboard import teaching
from selfattn.kernel import AttentionTrace, attend
from selfattn.kernel_inputs import Term, Terms
from selfattn.lessons import one_head_by_hand
from selfattn.lessons.one_head_by_hand import BANK, WORDS
from selfattn.lessons.terms import TERMS

TITLE = "Normalise: softmax"
STEP = "softmax"
IDEA = (
    f"{TERMS['softmax']} Only what comes out is called *weights*: a row of them is a budget of 1, like a highlighter with just "
    "so much ink."
)
QUESTION = "*bank* scores 2, *river* 3. How many times the weight of *bank* does *river* get?"
OPTIONS = ("2.7 times", "1.5 times", "the same, both are positive")
REASON = "e³ / e² = e = 2.7: only the difference of two scores counts. 20.09 and 7.39 of 27.88 are 0.72 and 0.27."
TAKE = "Weights are above 0 and sum to 1: what one word gains, the others lose. A score of 0 is not a weight of 0."
SOURCE = "good, not, the"
TOKENS = ("good", "not", "the")
QUERY = torch.tensor((0.0, 1.0), dtype=torch.float64)
KEYS = torch.tensor(((0.0, 1.0), (0.5, 0.5), (0.0, 0.0)), dtype=torch.float64)


def show(picture) -> None:
    river = one_head_by_hand.compute().trace
    examples = {  # the token that asks, its query, the tokens, their keys and values, and the scale
        "bank": (BANK, river.query[BANK], WORDS["river"], river.key, river.value, 1.0),
        SOURCE: (0, QUERY, TOKENS, KEYS, None, None),
    }
    which = teaching.example("three-words", tuple(examples))
    asks, query, tokens, keys, values, scale = examples[which]
    names = [f"{place + 1} {token}" for place, token in enumerate(tokens)]
    wanted, *typed = teaching.vectors("three-words", {"query": query, **dict(zip(names, keys))}, 110).values()
    st.markdown("**The budget**")
    place = tokens.index("river") if "river" in tokens else 0
    more = st.slider(f"Raise the score of {tokens[place]} by", -3.0, 5.0, 0.0, 0.5, key="three-words.more")
    others = st.slider("More words with the score 0", 0, 200, 0, key="three-words.others")
    raised = torch.zeros(len(tokens) + others, dtype=torch.float64)
    raised[place] = more
    trace = compute(wanted, torch.stack(typed), values, others, scale, [Term("raised by", raised)] if more else [])
    teaching.formula(r"w_i = \frac{e^{s_i}}{\sum_j e^{s_j}}")
    with picture:
        note = "The source stops before the values: they are 0 here." if values is None else ""
        words = (*tokens, *(f"more {n + 1}" for n in range(others)))
        teaching.kernel("three-words", trace, words, asks, note=note)
        teaching.prose(
            "Raise one score, and the others pay. Ten times larger scores leave one word; among many words even a good score is "
            "diluted. (The kernel first subtracts the largest score: same weights.)"
        )


def compute(
    query: Tensor = QUERY,
    keys: Tensor = KEYS,
    values: Tensor | None = None,
    others: int = 0,
    scale: float | None = None,
    terms: Terms = (),
) -> AttentionTrace:
    """One query (d,) over keys (n, d) and values (n, d), zeros where None, and as many `others`, whose keys and values are 0."""
    value = keys.new_zeros(keys.shape) if values is None else values
    more = keys.new_zeros(others, keys.shape[1])
    return attend(query[None], torch.cat([keys, more]), torch.cat([value, more]), scale=scale, terms=terms)
