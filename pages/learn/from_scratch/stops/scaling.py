"""S6: why the scores are divided by the square root of d_k, measured on random vectors."""

import math

import pandas as pd
import streamlit as st

from pages.learn.from_scratch.real_heads import score_spread
from selfattn.charts import lesson_charts as charts
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.lessons import scaling

TITLE = "Score: why divide by √d"
STEP = "score"
OPTIONS = ("nothing much", "one word takes nearly all the weight", "the weights become even")


def show() -> None:
    parts.prose(
        "A query and a key of $d_k$ random numbers (mean 0, variance 1, independent) have a dot product of variance "
        "$d_k$. The original Transformer had $d_{model} = 512$ and $d_k = 64$ in each head. So scores of size "
        f"$\\sqrt{{64}} = 8$ are common there, and softmax makes $e^8 = {math.exp(8):,.0f}$ of that."
    )
    parts.formula(
        r"\mathrm{Var}\Big(\sum_{k=1}^{d_k} q_k k_k\Big) = d_k \quad\Rightarrow\quad \text{divide by }\sqrt{d_k}"
    )
    question = "Take $d_k = 512$ and leave out the division. What happens to a row of weights?"
    if not parts.predict("scaling", question, OPTIONS, OPTIONS[1]):
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        n_keys = st.slider("Keys in a row", 4, 128, scaling.N_KEYS, key="scaling.n", width=300)
        seed = st.number_input("Seed", 0, 9999, 0, key="scaling.seed", width=120)
        parts.reset("scaling", {"scaling.n": scaling.N_KEYS, "scaling.seed": 0})
    _figures(_measure(n_keys, int(seed)))
    parts.prose(
        f"**To be exact:** learned projections could shrink by 1/√d and do the same (done here, the weights "
        f"differ by {scaling.absorbed():.0e}). So the division matters most at the *start* of training, when the "
        "projections are still random and a saturated softmax would pass almost no gradient back."
    )
    score_spread("scaling.sentence")


@st.cache_data(max_entries=32, show_spinner="Measuring ...")
def _measure(n_keys: int, seed: int) -> pd.DataFrame:
    return scaling.measure(n_keys=n_keys, seed=seed)


def _figures(found: pd.DataFrame) -> None:
    found = found.assign(series=["divided by √d_k" if scaled else "as it is" for scaled in found["scaled"]])
    raw, scaled = (found[(found["scaled"] == flag) & (found["d_k"] == 512)].iloc[0] for flag in (False, True))
    panels = (
        (
            "Variance of the scores",
            "variance",
            "xy",
            f"At d_k = 512: {raw.variance:.0f} without, {scaled.variance:.2f} with.",
        ),
        (
            "Entropy: 1 = even, 0 = one takes all",
            "entropy",
            "x",
            f"At d_k = 512: {raw.entropy:.2f} without, {scaled.entropy:.2f} with; the largest weight is "
            f"{raw.largest:.2f} and {scaled.largest:.2f}.",
        ),
        (
            "Gradient through softmax (norm)",
            "gradient",
            "x",
            f"At d_k = 512: {raw.gradient:.3f} without, {scaled.gradient:.3f} with.",
        ),
    )
    with parts.row():
        for title, column, log, reading in panels:
            with parts.figure(title, 340):
                chart = charts.lines(found, "d_k", column, current_theme(), "series", log, ("d_k", ""), size=(290, 220))
                show_chart(chart, reading, width="content")
