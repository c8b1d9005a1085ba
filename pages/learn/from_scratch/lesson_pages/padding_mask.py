"""The padding mask: a short sentence in a batch of longer ones."""

import streamlit as st

from selfattn.captions import steps as captions
from selfattn.charts.bars import Row, bars
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached
from selfattn.dashboard.figures import current_theme

TITLE = "Normalise: the padding mask"
STEP = "softmax"
IDEA = (
    "Sentences of different lengths share a batch by padding the short ones. The mask gives the padding −∞, so that it weighs "
    "nothing; the rows of the padding itself mean nothing and are thrown away."
)
QUESTION = "The sentence gets four tokens of padding. What happens to the weights of *bank*?"
OPTIONS = ("they stay as they are", "each shrinks a little", "the padding takes a share")
REASON = "e to −∞ is 0, so padding adds nothing to the sum that softmax divides by."
TAKE = "Padding is hidden by the mask: a sentence gets the same numbers alone and in a batch."


def show(picture, numbers) -> None:
    with numbers:
        encoder, encoding, head = teaching.choose_head("padding-mask", "The bank approved the loan.")
        tokens, plain = encoding.tokens, encoding.trace(*head)
        n = len(tokens)
        room = encoder.max_tokens - n
        if room < 1:
            st.text(f"The sentence fills the encoder's {encoder.max_tokens} tokens: there is no room for padding.")
            return
        extra = st.slider("Tokens of padding", 1, min(16, room), min(4, room), key="padding-mask.extra")
        row = st.selectbox("The row of", range(n), min(2, n - 1), lambda i: f"{i}: {tokens[i]}", key="padding-mask.row")
    key = ("padded", encoding.text, n + extra)
    padded = cached(encoder, key, lambda _: encoder.encode(encoding.text, pad_to=n + extra), runs=True)
    trace, theme = padded.trace(*head), current_theme()
    error = float((trace.weights[:n, :n] - plain.weights).abs().max())
    share = float(trace.weights[:n, n:].sum(-1).max())
    charts = {}
    for name in ("masked", "weights"):
        shown = Row("", getattr(trace, name)[row].tolist(), padded.tokens, theme.sentence_a, row)
        charts[name] = name.capitalize(), bars([shown], theme, what=name, width=640, height=90)
    hidden = captions.hidden_tokens({"this row": trace.masked[row]})
    with picture:
        teaching.steps(charts, f"{hidden} {captions.padding(n, extra, share, error)}", tuple(charts), columns=1)
