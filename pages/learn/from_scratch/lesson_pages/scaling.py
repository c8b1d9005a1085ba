"""Why the scores are divided by the square root of d_k: on the scores of "bank", and measured on random vectors.

Source: Vaswani et al. 2017, section 3.2.1 and its footnote 4: the dot product of two vectors whose d_k components are
independent with mean 0 and variance 1 has mean 0 and variance d_k.
"""

import math

import numpy as np
import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from selfattn.charts.curves import lines
from selfattn.dashboard import teaching
from selfattn.encoders.capture import Head
from selfattn.kernel import attend
from selfattn.lessons.one_head_by_hand import BANK, LAST, WORDS, compute
from selfattn.lessons.worked_example import of_scores
from selfattn.numbers import decimal
from selfattn.views.lesson import drawing
from selfattn.views.stage import SHARE, Column, Scene

TITLE = "Score: why divide by √d_k"
STEP = "scores"
IDEA = (
    "How many numbers a query has is called *d_k*: 2 for *bank*, more in a real head. The more, the larger its scores, which "
    "grow as √d_k. So attention divides every score by √d_k before softmax."
)
QUESTION = "Take d_k = 512 and leave out the division. What happens to a row of weights?"
OPTIONS = ("one word takes nearly all the weight", "nothing much", "the weights become even")
REASON = (
    "From d_k = 2 to 512 scores grow by √(512 / 2) = 16: *bank* and *river* have 32 and 48 instead of 2 and 3. So *river* "
    f"gets e¹⁶ = {math.exp(16):,.0f} times the weight of *bank*."
)
AT_2 = "scores of bank at d_k = 2"
DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
N_KEYS, N_QUERIES = 32, 256
TAKE = "Large scores make softmax choose one word and stop learning. Dividing by √d_k keeps them small."


def draw(answered: bool) -> Scene:
    typed, d_k, words = compute().trace.scores[BANK], 512, WORDS["river"]
    if answered:
        d_k = st.select_slider("d_k", (2, 8, 32, 64, 512), 512, key="scaling.d_k")
        with st.expander("Your own scores"):
            typed = teaching.vectors("scaling", {AT_2: typed}, 220)[AT_2]
        st.text("The original Transformer: d_k = 64, so scores are divided by 8.")
    grown = typed * math.sqrt(d_k / 2)  # as those of random vectors do
    ways = {
        name: of_scores(grown, scale)
        for name, scale in (("divided", d_k**-0.5), ("left alone", 1.0), ("multiplied", d_k**0.5))
    }
    shares = {name: trace.weights[0] for name, trace in ways.items()}
    largest = ", ".join(f"{name} {decimal(weights.max())}" for name, weights in shares.items())
    scores = grown.tolist()
    return Scene(
        f"At d_k = {d_k} the largest weight is: {largest}.",
        words,
        (
            Column("score", "score", grown, _ends(grown)),
            Column("scaled", "÷ √d_k", ways["divided"].scaled[0], (-3.0, 3.0), asked=True),
            *(
                Column("weights" if name == "divided" else name, name, weights, SHARE, asked=True)
                for name, weights in shares.items()
            ),
        ),
        asks=BANK,
        lit=LAST,
        lines=[f"{word}: {score:.2f} ÷ √{d_k} = {score / math.sqrt(d_k):.2f}" for word, score in zip(words, scores)],
        note=(
            "Divided, scores and weights are the same at any d_k: river gets 0.63. At d_k = 2 it would have 0.72 undivided. "
            "One printed formula multiplies by √d_k: all goes to one word."
        ),
    )


def _ends(scores: Tensor) -> tuple[float, float]:
    return min(-1.0, float(scores.min())), max(1.0, float(scores.max()))


def show_details() -> None:
    """Beneath the picture and the numbers."""
    with st.expander("Details: measured on random vectors, and in a real encoder"):
        _figures(measure())
        _on_encoder()


@st.cache_data(max_entries=1, show_spinner="Measuring ...")
def measure() -> pd.DataFrame:
    """Two rows a depth: d_k, scaled (True: divided by sqrt d_k), variance, entropy, gradient, series (the curve's name).

    variance: of the scores that softmax receives. entropy: of a row of weights, in bits. gradient: the Frobenius norm of the
    softmax's Jacobian, how far a change of scores moves the weights. Both are means over the rows.
    """
    rows = []
    for depth in DEPTHS:
        draw = torch.Generator().manual_seed(0)
        query, key = (torch.randn(n, depth, generator=draw, dtype=torch.float64) for n in (N_QUERIES, N_KEYS))
        for scaled, scale in ((False, 1.0), (True, 1 / math.sqrt(depth))):
            trace = attend(query, key, key, scale=scale)
            entropy = float(torch.special.entr(trace.weights).sum(-1).mean()) / math.log(2)
            variance, gradient = float(trace.scaled.var()), float(jacobian_norm(trace.weights).mean())
            rows.append((depth, scaled, variance, entropy, gradient, "divided by √d_k" if scaled else "as it is"))
    return pd.DataFrame(rows, columns=["d_k", "scaled", "variance", "entropy", "gradient", "series"])


def jacobian_norm(weights: Tensor) -> Tensor:
    """The Frobenius norm of diag(w) - w w^T, the softmax's Jacobian, for each row of weights (..., n) -> (...)."""
    return (weights.diag_embed() - weights[..., None] * weights[..., None, :]).norm(dim=(-2, -1))


def _figures(frame: pd.DataFrame) -> None:
    raw, scaled = (frame[(frame["scaled"] == flag) & (frame["d_k"] == 512)].iloc[0] for flag in (False, True))
    with teaching.row():
        for title, column, log, digits in (
            ("Variance of random scores (√ of it: their size)", "variance", "xy", 2),
            (f"Entropy of a row of {N_KEYS} weights, in bits", "entropy", "x", 2),
            ("How far a change of scores moves the weights", "gradient", "x", 3),
        ):
            chart = drawing(lines, frame, "d_k", column, series="series", log=log, titles=("d_k", ""), size=(290, 220))
            finding = (
                f"At d_k = 512: {raw[column]:.{digits}f} without the division, {scaled[column]:.{digits}f} with it."
            )
            teaching.steps(column, finding, {title: chart}, width=340)
    teaching.prose(
        "Learned matrices could absorb the factor: W_Q divided by √d_k gives the same scores. It matters at the start of "
        "training, when the matrices are random."
    )


def _on_encoder() -> None:
    encoder, encoding = teaching.choose_sentence("scaling", "The bank of the river was muddy after the rain.")
    heads = np.ndindex(encoder.n_layers, encoder.n_heads)
    spread = torch.stack([encoding.trace(*head).scaled.std() for head in heads]).view(encoder.n_layers, -1)
    widest = Head(*divmod(int(spread.argmax()), encoder.n_heads))
    finding = (
        f"A real head's scaled scores spread by {float(spread.median()):.2f} (median), at most by {float(spread.max()):.2f} in "
        f"{widest}."
    )
    note = f"Without the division: {encoder.d_head**0.5:.1f} times as much (d_head = {encoder.d_head})."
    charts = {"Standard deviation of each head's scaled scores": teaching.heads_chart(spread)}
    teaching.steps("spread of scores", finding, charts, note=note)
