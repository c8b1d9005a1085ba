"""S16: does "good" look at "not"? The printed row beside real heads, and fourteen pairs with and without a negator."""

import pandas as pd
import streamlit as st

from selfattn.charts import lesson_charts as charts
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.encoder_picker import HASHED, cached_encode
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.encoders.encoder import Encoder
from selfattn.examples import MOVIE, NEGATION_PAIRS
from selfattn.lessons import negation

GOOD, AMAZING, NOT = 4, 10, 3  # word numbers in the movie sentence


@st.cache_resource(max_entries=4, show_spinner="Reading the negation pairs ...", hash_funcs=HASHED)
def mean_look(encoder: Encoder) -> negation.NegatorLook:
    """Over all pairs: what the negated word gives its negator, and what it gives that place without one."""
    return negation.mean_look(
        [
            negation.look(cached_encode(encoder, pair.negated), cached_encode(encoder, pair.plain), pair)
            for pair in NEGATION_PAIRS
        ]
    )


def show(encoder: Encoder) -> None:
    found = mean_look(encoder)
    layer, head = divmod(int(found.gain.argmax()), found.gain.shape[1])
    st.text(MOVIE)
    parts.prose(
        "A lesson prints a row of weights for *good*, with .55 on *not*. It is an illustration. Beside it: the head of this "
        f"encoder that follows negators most (L{layer} H{head}, found below), and how *amazing* looks in the same head."
    )
    _movie(encoder, layer, head)
    st.markdown("#### Is it the negator, or its place?")
    parts.prose(
        f"{len(NEGATION_PAIRS)} pairs, *the soup was good* and *the soup was not good*. A head that always looks one word "
        "back would pass any test on the second alone. So from the weight on the negator we take the weight that the same "
        "place gets in the plain sentence. What is left is drawn."
    )
    rows, columns = [f"L{n}" for n in range(found.gain.shape[0])], [f"H{n}" for n in range(found.gain.shape[1])]
    reading = (
        f"L{layer} H{head}: {float(found.negator[layer, head]):.2f} on the negator, "
        f"{float(found.instead[layer, head]):.2f} on that place without one. "
        f"{int((found.gain > 0.1).sum())} of {found.gain.numel()} heads gain more than .10."
    )
    chart = charts.heatmap(found.gain, rows, columns, current_theme(), signed=True, names=("layer", "head"), cell=36)
    show_chart(chart, reading, width="content")
    parts.prose(
        "Looking at *not* is not yet understanding it: what the head does with the value it fetches is another matter. "
        "And the head was chosen on these very pairs, so its figure is a little flattered."
    )


def _movie(encoder: Encoder, layer: int, head: int) -> None:
    encoding = cached_encode(encoder, MOVIE)
    tokens = [word.text for word in encoding.words]
    good, amazing = (negation.word_row(encoding, index)[layer, head] for index in (GOOD, AMAZING))
    drawn = pd.DataFrame({"token": tokens, "weight": negation.ILLUSTRATIVE_ROW})
    with parts.row():
        for title, frame, reading in (
            ("“good”, as printed", drawn, f"On not: {negation.ILLUSTRATIVE_ROW[NOT]:.2f}."),
            (f"“good”, L{layer} H{head}", drawn.assign(weight=good.tolist()), _reading(good)),
            (f"“amazing”, L{layer} H{head}", drawn.assign(weight=amazing.tolist()), _reading(amazing)),
        ):
            with parts.figure(title, 340):
                show_chart(charts.bars(frame, "weight", current_theme(), domain=(0, 1.2)), reading, width="content")


def _reading(row) -> str:
    return (
        f"On not: {float(row[NOT]):.2f}; on special tokens, which are not drawn: {max(0.0, 1 - float(row.sum())):.2f}."
    )
