"""Why the scores are divided by the square root of d_k, measured on random vectors."""

import math

import pandas as pd
import streamlit as st
import torch

from selfattn.charts.curves import lines
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.encoders.capture import Head
from selfattn.lessons import scaling
from selfattn.numbers import error

TITLE = "Score: why divide by √d"
STEP = "score"
OPTIONS = ("nothing much", "one word takes nearly all the weight", "the weights become even")


def show() -> None:
    teaching.prose(
        "A query and a key of $d_k$ random numbers (mean 0, variance 1, independent) have a dot product of variance "
        "$d_k$. The original Transformer had $d_{model} = 512$ and $d_k = 64$ in each head. So scores of size "
        f"$\\sqrt{{64}} = 8$ are common there, and softmax makes $e^8 = {math.exp(8):,.0f}$ of that."
    )
    teaching.formula(
        r"\mathrm{Var}\Big(\sum_{k=1}^{d_k} q_k k_k\Big) = d_k \quad\Rightarrow\quad \text{divide by }\sqrt{d_k}"
    )
    question = "Take $d_k = 512$ and leave out the division. What happens to a row of weights?"
    if not teaching.predict("scaling", question, OPTIONS, OPTIONS[1]):
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        n_keys = st.slider("Keys in a row", 4, 128, scaling.N_KEYS, key="scaling.n", width=300)
        seed = st.number_input("Seed", 0, 9999, 0, key="scaling.seed", width=120)
        teaching.reset("scaling", {"scaling.n": scaling.N_KEYS, "scaling.seed": 0})
    _figures(_measure(n_keys, int(seed)))
    teaching.prose(
        f"**To be exact:** learned projections could shrink by 1/√d and do the same (done here, the weights "
        f"differ by {error(scaling.absorbed())}). So the division matters most at the *start* of training, when the "
        "projections are still random and a saturated softmax would pass almost no gradient back."
    )
    _on_encoder()


@st.cache_data(max_entries=32, show_spinner="Measuring ...")
def _measure(n_keys: int, seed: int) -> pd.DataFrame:
    return scaling.measure(n_keys=n_keys, seed=seed)


def _figures(measured: pd.DataFrame) -> None:
    frame = measured.assign(series=["divided by √d_k" if scaled else "as it is" for scaled in measured["scaled"]])
    raw, scaled = (frame[(frame["scaled"] == flag) & (frame["d_k"] == 512)].iloc[0] for flag in (False, True))
    with teaching.row():
        for title, column, log, caption in (
            ("Variance of the scores", "variance", "xy", f"{raw.variance:.0f} without, {scaled.variance:.2f} with."),
            ("Entropy: 1 = even, 0 = one takes all", "entropy", "x",
             f"{raw.entropy:.2f} without, {scaled.entropy:.2f} with; "
             f"the largest weight is {raw.largest:.2f} and {scaled.largest:.2f}."),
            ("Gradient through softmax (norm)", "gradient", "x",
             f"{raw.gradient:.3f} without, {scaled.gradient:.3f} with."),
        ):  # fmt: skip
            chart = lines(frame, "d_k", column, current_theme(), "series", log, ("d_k", ""), size=(290, 220))
            teaching.figure(title, chart, f"At d_k = 512: {caption}")


def _on_encoder() -> None:
    """How widely the scores of real heads spread, with the division."""
    teaching.prose(
        "**And in a real encoder?** The standard deviation of each head's scaled scores, on a sentence of yours."
    )
    encoder, encoding = teaching.choose_sentence("scaling", "The bank of the river was muddy after the rain.")
    spread = torch.tensor(
        [[float(encoding.trace(layer, head).scaled.std()) for head in range(encoder.n_heads)]
         for layer in range(encoder.n_layers)]
    )  # fmt: skip
    widest = Head(*divmod(int(spread.argmax()), encoder.n_heads))
    caption = (
        f"Median {float(spread.median()):.2f}, largest {float(spread.max()):.2f} in {widest}. "
        f"Without the division all would be {encoder.d_head**0.5:.1f} times as large (d_head = {encoder.d_head})."
    )
    show_chart(teaching.heads_chart(spread), caption, name="spread of each head's scaled scores")
