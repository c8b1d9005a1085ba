"""The padding mask: a short sentence in a batch of longer ones."""

import streamlit as st

from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached
from selfattn.numbers import error, weight

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


def show(picture, answered) -> None:
    encoder, encoding, head = teaching.choose_head("padding-mask", teaching.REAL)
    n = len(encoding.tokens)
    room = encoder.max_tokens - n
    if room < LEAST:
        st.text(f"The sentence fills the encoder's {encoder.max_tokens} tokens: there is no room for padding.")
        return
    extra = room
    if room > LEAST:
        extra = st.slider("Tokens of padding", LEAST, min(MOST, room), LEAST, key="padding-mask.extra")
    key = ("padded", encoding.text, n + extra)
    padded = cached(encoder, key, lambda _: encoder.encode(encoding.text, pad_to=n + extra))
    trace = padded.trace(*head)
    changed = float((trace.weights[:n, :n] - encoding.weights(*head)).abs().max())
    share = float(trace.weights[:n, n:].sum(-1).max())
    gets = f"at most {error(share)}" if share else "exactly 0"
    differ = f"change by at most {error(changed)}" if changed else "stay the same"
    own = trace.weights[n:, :n].sum(-1).min()
    weights = trace.weights if answered else teaching.blank(trace.weights, *range(n, n + extra))
    with picture:
        finding = (
            f"[PAD] gives the sentence's own tokens {weight(float(own))} of its weight. It gets {gets} of theirs, and their own "
            f"weights {differ}."
        )
        charts = {"A row a token, the padding's too": teaching.small_map(weights, padded.tokens, 520, maximum=1.0)}
        teaching.steps("padding", finding, charts, "masked", "weights", answered=answered)
