"""Softmax on a row of scores, and the budget that its weights share.

Source: the published numeric example, scores 1, 0.5 and 0, whose weights are printed as .46, .32 and .22; it stops before
the values.
"""

from collections.abc import Sequence

import streamlit as st
import torch
from torch import Tensor

from selfattn.dashboard import teaching
from selfattn.kernel import AttentionTrace, attend
from selfattn.kernel_inputs import Term, Terms
from selfattn.lessons import one_head_by_hand
from selfattn.lessons.one_head_by_hand import BANK, WORDS
from selfattn.lessons.terms import TERMS
from selfattn.numbers import decimal, weight
from selfattn.views.stage import SHARE, Column, Scene

TITLE = "Normalise: softmax"
STEP = "softmax"
IDEA = (
    f"{TERMS['softmax']} Only what comes out is called *weights*: a row of them is a budget of 1, like a highlighter with just "
    "so much ink."
)
QUESTION = "Divided by √2, *bank* scores 1.41 and *river* 2.12. How many times the weight of *bank* does *river* get?"
OPTIONS = ("2 times", "1.5 times", "the same, both are positive")
REASON = (
    "Only the difference of two scores counts: e to the power of 2.12 − 1.41 is 2.03. Of 13.18 in all, 8.34 and 4.11 are 0.63 "
    "and 0.31."
)
TAKE = "Weights are above 0 and sum to 1: what one word gains, the others lose. A score of 0 is not a weight of 0."
SOURCE = "good, not, the"
TOKENS = ("good", "not", "the")
QUERY = torch.tensor((0.0, 1.0), dtype=torch.float64)
KEYS = torch.tensor(((0.0, 1.0), (0.5, 0.5), (0.0, 0.0)), dtype=torch.float64)


def draw(answered: bool) -> Scene:
    thread = one_head_by_hand.compute().trace
    examples = {  # the token that asks, its query, the tokens, and their keys
        "bank": (BANK, thread.query[BANK], WORDS["river"], thread.key),
        SOURCE: (0, QUERY, TOKENS, KEYS),
    }
    which = teaching.example("three-words", tuple(examples)) if answered else "bank"
    asks, query, tokens, keys = examples[which]
    more, others, place = 0.0, 0, tokens.index("river") if "river" in tokens else 0
    if answered:
        more = st.slider(f"Raise the score of {tokens[place]} by", -3.0, 5.0, 0.0, 0.5, key="three-words.more")
        others = st.slider("More words with the score 0", 0, 200, 0, key="three-words.others")
        with st.expander("Your own query and keys"):
            names = [f"{n} {token}" for n, token in enumerate(tokens, start=1)]
            query, *rows = teaching.vectors("three-words", {"query": query, **dict(zip(names, keys))}, 110).values()
            keys = torch.stack(rows)
    raised = torch.zeros(len(tokens) + others, dtype=torch.float64)
    raised[place] = more
    trace = compute(query, keys, others, [Term("raised by", raised)] if more else [])
    return _scene(trace, tokens, asks, others)


def _scene(trace: AttentionTrace, tokens: Sequence[str], asks: int, others: int) -> Scene:
    """The steps of one row; the other words are one row, together."""
    n, masked, weights = len(tokens), trace.masked[0], trace.weights[0]
    rest = slice(n, None)
    powers = masked.exp()
    shown = [*tokens, f"{others} more"] if others else list(tokens)
    scaled, powers, weights = (
        torch.cat([row[:n], after.reshape(1)]) if others else row
        for row, after in ((masked, masked[-1]), (powers, powers[rest].sum()), (weights, weights[rest].sum()))
    )
    total, best = powers.sum(), int(weights.argmax())
    lines = [
        f"{word}: {f'{others} × ' if at == n else ''}e^{decimal(score)} = {decimal(power)}; "
        f"{decimal(power)} / {decimal(total)} = {weight(share)} (rounded)"
        for at, (word, score, power, share) in enumerate(zip(shown, scaled, powers, weights.tolist()))
    ]
    return Scene(
        f'Of 1, "{shown[best]}" gets {weight(float(weights[best]))}.',
        shown,
        (
            Column("scaled", "score ÷ √2", scaled, (-3.0, max(3.0, float(scaled.max())))),
            Column(
                "power", "e to that", powers, (0.0, max(10.0, float(powers.max()))), foot=("sum", total), asked=True
            ),
            Column("weights", "weight", weights, SHARE, foot=("sum", weights.sum()), asked=True),
        ),
        asks=asks,
        lit=best,
        lines=lines,
        note="The kernel first subtracts the largest score: same weights. Among many words even a good score is diluted.",
    )


def compute(query: Tensor = QUERY, keys: Tensor = KEYS, others: int = 0, terms: Terms = ()) -> AttentionTrace:
    """One query (d,) over keys (n, d), and as many `others`, whose keys are 0. The source has no values: they are 0."""
    every = torch.cat([keys, keys.new_zeros(others, keys.shape[1])])
    return attend(query[None], every, torch.zeros_like(every), terms=terms)
