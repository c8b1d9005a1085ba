"""Softmax on a row of scores, and the budget that its weights share.

Source: the published numeric example, scores 1, 0.5 and 0, whose weights are printed as .46, .32 and .22; it stops before
the values.
"""

from collections.abc import Sequence

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from selfattn.captions.terms import TERMS
from selfattn.dashboard import teaching
from selfattn.lessons.one_head_by_hand import BANK, WORDS, compute
from selfattn.lessons.worked_example import of_scores
from selfattn.numbers import decimal, plain

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
LARGEST = 100.0  # a score; the picture writes e to it out
COLUMNS = {"scores": "score", "scaled": "scaled", "exponentials": "exponential", "weights": "weight"}
TITLES = {"scores": "Score", "scaled": "÷ √d_k: the next stop", "exponentials": "e to that", "weights": "÷ their sum"}


def show(picture) -> None:
    river = compute().trace
    examples = {"bank": (river.query[BANK], WORDS["river"], river.key), SOURCE: (QUERY, TOKENS, KEYS)}
    which = teaching.example("three-words", tuple(examples))
    query, tokens, keys = examples[which]
    names = [f"{place + 1} {token}" for place, token in enumerate(tokens)]
    published = {"query": query, **dict(zip(names, keys))}
    wanted, *typed = teaching.vectors("three-words", published, 110, check=not_too_large).values()
    st.markdown("**The budget**")
    place = tokens.index("river") if "river" in tokens else 0
    more = st.slider(f"Raise the score of {tokens[place]} by", -3.0, 5.0, 0.0, 0.5, key="three-words.more")
    others = st.slider("More words with the score 0", 0, 200, 0, key="three-words.others")
    found = steps(wanted, torch.stack(typed), tokens, place, more, others, None if which == SOURCE else 1.0)
    teaching.formula(r"w_i = \frac{e^{s_i}}{\sum_j e^{s_j}}")
    shown = [name for name in TITLES if name != "scaled" or which == SOURCE]
    digits = 2 if which == SOURCE else 3  # as published; and so that the least of "bank" isn't 0.00
    charts = {
        name: (TITLES[name], teaching.bars(found, COLUMNS[name], width=84, number=f".{digits}f")) for name in shown
    }
    with picture:
        weights = " + ".join(decimal(weight, digits) for weight in found.weight)
        caption = f"Scores from {plain(found.score.min())} to {plain(found.score.max())}; {weights} = 1."
        teaching.steps(charts, caption, (*shown[:-1], "total", shown[-1]))
        teaching.prose(
            "Raise one score, and the others pay. Ten times larger scores leave one word; among many words even a good score is "
            "diluted. (The kernel first subtracts the largest score: same weights.)"
        )


def not_too_large(query: Tensor, *keys: Tensor) -> None:
    """ValueError where a key's score is beyond LARGEST."""
    if (most := float((torch.stack(keys) @ query).max())) > LARGEST:
        raise ValueError(
            f"Expected scores up to {LARGEST:g}, for e to them is written out; got {most:g}. Type smaller numbers."
        )


def steps(
    query: Tensor = QUERY,
    keys: Tensor = KEYS,
    tokens: Sequence[str] = TOKENS,
    place: int = 0,
    more: float = 0.0,
    others: int = 0,
    scale: float | None = None,
) -> pd.DataFrame:
    """One row a word: token, score, scaled, exponential (e to the scaled score), weight.

    more: added to the score at `place`. others: so many more words of score 0, which have one row together.
    scale: 1 / sqrt(d_k) unless given.
    """
    scores = torch.cat([keys @ query, query.new_zeros(others)])
    scores[place] += more
    trace = of_scores(scores, len(query) ** -0.5 if scale is None else scale)
    n, found = len(tokens), torch.cat([trace.scores, trace.scaled, trace.scaled.exp(), trace.weights])
    together = [found[:, :n], found[:, n:].sum(1, keepdim=True)] if others else [found]
    columns = dict(zip(COLUMNS.values(), torch.cat(together, 1).tolist()))
    return pd.DataFrame({"token": [*tokens, *[f"{others} more"] * (others > 0)], **columns})
