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

from selfattn.charts.bars import bar_list
from selfattn.charts.curves import lines
from selfattn.dashboard import teaching
from selfattn.encoders.capture import Head
from selfattn.kernel import attend
from selfattn.lessons.one_head_by_hand import BANK, WORDS, compute
from selfattn.lessons.worked_example import of_scores
from selfattn.numbers import vector
from selfattn.views.lesson import drawing

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


def show(picture) -> None:
    scores = compute().trace.scores[BANK]
    names = [f"{place + 1} {word}" for place, word in enumerate(WORDS["river"])]
    typed = teaching.vectors("scaling", {AT_2: scores}, 220)[AT_2]
    d_k = st.select_slider("d_k", (2, 8, 32, 64, 512), 512, key="scaling.d_k")
    grown = typed * math.sqrt(d_k / 2)  # as those of random vectors do
    scales = {"divided": d_k**-0.5, "left alone": 1.0}
    ways = {way: of_scores(grown, scale).weights[0].tolist() for way, scale in scales.items()}
    st.text("The original Transformer: d_k = 64, so scores are divided by 8.")
    frame = pd.DataFrame({"token": names, **ways})
    charts = {way: drawing(bar_list, frame, way, width=130, domain=(0, 1.3)) for way in ways}
    with picture:
        largest = ", ".join(f"{way} {max(weights):.2f}" for way, weights in ways.items())
        finding = f"At d_k = {d_k} the largest weight is: {largest}."
        teaching.steps("scaling", finding, charts, "scale", "scaled", note=f"The scores are {vector(grown, 1)}.")
        teaching.prose(
            "Divided, the scores stay the same at any d_k, and so do the weights. At d_k = 2 scores are divided by √2: *river* "
            "gets 0.63; undivided it was 0.72."
        )
        teaching.real_head("scaled")


def show_details() -> None:
    """Beneath the picture and the numbers."""
    with st.expander("Details: measured on random vectors, and in a real encoder"):
        _figures(measure())
        _on_encoder()


@st.cache_data(max_entries=1, show_spinner="Measuring ...")
def measure() -> pd.DataFrame:
    """Two rows a depth: d_k, scaled (True = divided by sqrt d_k), variance, gradient, series (what a curve is called).

    variance: of the scores that softmax receives. gradient: the Frobenius norm of the softmax's Jacobian, how far a change of
    scores moves the weights: the mean over the rows.
    """
    rows = []
    for depth in DEPTHS:
        draw = torch.Generator().manual_seed(0)
        query, key = (torch.randn(n, depth, generator=draw, dtype=torch.float64) for n in (N_QUERIES, N_KEYS))
        for scaled, scale in ((False, 1.0), (True, 1 / math.sqrt(depth))):
            trace = attend(query, key, key, scale=scale)
            variance, gradient = float(trace.scaled.var()), float(jacobian_norm(trace.weights).mean())
            rows.append((depth, scaled, variance, gradient, "divided by √d_k" if scaled else "as it is"))
    return pd.DataFrame(rows, columns=["d_k", "scaled", "variance", "gradient", "series"])


def jacobian_norm(weights: Tensor) -> Tensor:
    """The Frobenius norm of diag(w) - w w^T, the softmax's Jacobian, for each row of weights (..., n) -> (...)."""
    return (weights.diag_embed() - weights[..., None] * weights[..., None, :]).norm(dim=(-2, -1))


def _figures(frame: pd.DataFrame) -> None:
    raw, scaled = (frame[(frame["scaled"] == flag) & (frame["d_k"] == 512)].iloc[0] for flag in (False, True))
    with teaching.row():
        for title, column, log, digits in (
            ("Variance of random scores (√ of it: their size)", "variance", "xy", 2),
            ("How far a change of scores moves the weights", "gradient", "x", 3),
        ):
            chart = drawing(lines, frame, "d_k", column, series="series", log=log, titles=("d_k", ""), size=(290, 220))
            finding = (
                f"At d_k = 512: {raw[column]:.{digits}f} without the division, {scaled[column]:.{digits}f} with it."
            )
            teaching.steps(column, finding, {title: chart}, width=340)


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
