"""Does "good" attend to "not"? The printed row beside real heads, and fourteen pairs with and without a negator."""

import pandas as pd
import streamlit as st
from torch import Tensor

from selfattn.charts.bars import bar_list
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached, cached_encode
from selfattn.dashboard.figures import current_theme, show_chart, this_page
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.examples import MOVIE, NEGATION_PAIRS
from selfattn.lessons import negation

OPTIONS = ("yes, amazing gives not at most half as much as good does", "no, amazing gives more than that")
GOOD, AMAZING, NOT = 4, 10, 3  # word numbers in the movie sentence


def mean_weights(encoder: Encoder) -> negation.NegatorWeights:
    """Over all pairs: what the negated word gives its negator, and what it gives that place without one."""
    pairs = (
        negation.negator_weights(cached_encode(encoder, pair.negated), cached_encode(encoder, pair.plain), pair)
        for pair in NEGATION_PAIRS
    )
    return cached(encoder, "negations", lambda _: negation.mean_weights(list(pairs)), "Reading the negation pairs ...")


def show(encoder: Encoder) -> None:
    weights = mean_weights(encoder)
    best = Head(*divmod(int(weights.gain.argmax()), encoder.n_heads))
    this_page().python = f"attention(encoder, {MOVIE!r}, {best.layer}, {best.head})", {"encoder": encoder}
    st.text(MOVIE)
    positive, negative = negation.bag_of_words(MOVIE)
    teaching.prose(
        f"A model that counts words sees *good* and *amazing*: {positive} positive words, {negative} negative ones; it calls the "
        "film good. It misses *not*. Attention could turn *good* and leave *amazing* alone; does it?"
    )
    rows = [negation.row_by_words(cached_encode(encoder, MOVIE), word)[best] for word in (GOOD, AMAZING)]
    good, amazing = (float(row[NOT]) for row in rows)
    alone = amazing <= 0.5 * good
    question = f"In the head that follows negators most, {best}: does it leave *amazing* alone?"
    measured = f"*good* gives *not* {good:.2f}, *amazing* gives it {amazing:.2f}."
    if not teaching.predict("negation", question, OPTIONS, OPTIONS[not alone], measured):
        return
    teaching.prose(
        "A lesson prints a row of weights for *good*, with .55 on *not*. It is an illustration. Beside it: the head of this "
        f"encoder that follows negators most ({best}, chosen below), for *good* and for *amazing*."
    )
    _movie(encoder, best)
    st.markdown("#### Is it the negator, or its place?")
    teaching.prose(
        f"{len(NEGATION_PAIRS)} pairs, *the soup was good* and *the soup was not good*. A head that always attends one word "
        "back would pass any test on the second alone. So from the weight on the negator we take the weight that the same "
        "place gets in the plain sentence. What is left is drawn."
    )
    caption = (
        f"{best}: {float(weights.negator[best]):.2f} on the negator, "
        f"{float(weights.instead[best]):.2f} on that place without one. "
        f"{int((weights.gain > 0.1).sum())} of {weights.gain.numel()} heads gain more than .10."
    )
    chart = teaching.heads_chart(weights.gain, kind="signed")
    show_chart(chart, caption, name="weight on the negator beyond that of its place")
    teaching.prose(
        "Attending to *not* is not yet understanding it: what the head does with the value it fetches is another matter. "
        "And the head was chosen on these very pairs, so its figure is a little flattered."
    )


def _movie(encoder: Encoder, head: Head) -> None:
    encoding = cached_encode(encoder, MOVIE)
    printed = pd.DataFrame({"token": [word.text for word in encoding.words], "weight": negation.ILLUSTRATIVE_ROW})
    pictures = [("“good”, as printed", printed, f"On not: {negation.ILLUSTRATIVE_ROW[NOT]:.2f}.")]
    for word, index in (("good", GOOD), ("amazing", AMAZING)):
        row = negation.row_by_words(encoding, index)[head]
        pictures.append((f"“{word}”, {head}", printed.assign(weight=row.tolist()), _caption(row)))
    with teaching.row():
        for title, frame, caption in pictures:
            teaching.figure(title, bar_list(frame, "weight", current_theme(), domain=(0, 1.2)), caption)


def _caption(row: Tensor) -> str:
    return (
        f"On not: {float(row[NOT]):.2f}; on special tokens, which are not drawn: {max(0.0, 1 - float(row.sum())):.2f}."
    )
