"""The padding mask: a short sentence in a batch of longer ones."""

import streamlit as st

from selfattn.charts.bars import Row, bars
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached
from selfattn.numbers import error
from selfattn.views.lesson import drawing

TITLE = "Normalise: the padding mask"
STEP = "softmax"
IDEA = (
    "Sentences of different lengths share a batch: the short ones get [PAD] tokens at their end, and the mask adds −∞ to the "
    "scores of these."
)
QUESTION = "A [PAD] token asks, too: it has a row of weights of its own. Whom does it attend to?"
OPTIONS = ("the sentence's own tokens", "nothing: all its weights are 0", "only itself and other [PAD] tokens")
REASON = (
    "The mask hides padding from those who ask, whoever asks: its own row is masked like any other and sums to 1. e to −∞ is 0, "
    "so the weights of *bank* stay as they are."
)
TAKE = "A sentence gets the same numbers alone and in a batch. The padding's own rows mean nothing; nobody reads them."
LEAST, MOST = 4, 16


def show(picture) -> None:
    encoder, encoding, head = teaching.choose_head("padding-mask", teaching.REAL)
    tokens, alone = encoding.tokens, encoding.trace(*head)
    n = len(tokens)
    room = encoder.max_tokens - n
    if room < LEAST:
        st.text(f"The sentence fills the encoder's {encoder.max_tokens} tokens: there is no room for padding.")
        return
    extra = room
    if room > LEAST:
        extra = st.slider("Tokens of padding", LEAST, min(MOST, room), LEAST, key="padding-mask.extra")
    row = st.selectbox("The row of", range(n), min(2, n - 1), lambda i: f"{i}: {tokens[i]}", key="padding-mask.row")
    key = ("padded", encoding.text, n + extra)
    padded = cached(encoder, key, lambda _: encoder.encode(encoding.text, pad_to=n + extra))
    trace = padded.trace(*head)
    changed = float((trace.weights[:n, :n] - alone.weights).abs().max())
    share = float(trace.weights[:n, n:].sum(-1).max())

    def one_row(values: list[float], top: float, theme: Theme) -> Spec:
        shown = Row("", values, padded.tokens[: len(values)], theme.sentence_a, row)
        width = 640 * len(values) // (n + extra)  # a token is as wide alone as with padding
        return bars([shown], theme, what="", width=width, height=80, top=top)

    top = float(alone.weights[row].max())
    charts = {
        "Weights, alone": drawing(one_row, alone.weights[row].tolist(), top),
        "Masked scores, with padding": drawing(one_row, trace.masked[row].tolist(), 0.0),
        "Weights, with padding": drawing(one_row, trace.weights[row].tolist(), top),
    }
    with picture:
        gets = f"at most {error(share)}" if share else "exactly 0"
        differ = f"change by at most {error(changed)}" if changed else "stay the same"
        finding = f"Padding gets {gets} of any real token's weight, and the real tokens' weights {differ}."
        teaching.steps("padding", finding, charts, "masked", "weights", columns=1)
