"""What happens to the context: it is added to the word's own vector, and the sum is brought to one size."""

import streamlit as st
import torch

from selfattn.analysis.steps import head_steps
from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached_encode
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.encoders.capture import Head
from selfattn.lessons.one_head_by_hand import ABOUT, BANK, WORDS, compute, embeddings_of
from selfattn.lessons.terms import TERMS
from selfattn.numbers import decimal, vector
from selfattn.views.lesson import drawing

TITLE = "Add: the word keeps itself"
STEP = "context"
IDEA = (
    f"{TERMS['residual']} Layer norm then takes the mean away and divides by the spread, so that no vector grows from layer to "
    "layer."
)
QUESTION = "*bank* starts as money 1, water 1. After the head, beside *river*, which is larger?"
OPTIONS = ("water", "money", "still equal")
REASON = "*river* hands over [−3, 3]: W_O halves the context [−1.90, 1.90], and 1 − 0.95 is less than 1 + 0.95."
TAKE = (
    "New vector = layer norm(own vector + what the heads add). One word, one static vector; two sentences, two vectors."
)


def show(picture) -> None:
    sentence = st.radio("The other word", list(WORDS), key="residual.sentence", horizontal=True)
    made = compute(sentence, teaching.vectors("residual", embeddings_of(sentence), 110))
    _real()
    own = made.embeddings[BANK]
    rows = ("own vector", "added by the head", "sum", "after layer norm")
    spread = made.total.std(unbiased=False)
    normed = (made.total - made.total.mean()) / (spread if spread > 0 else 1.0)  # equal numbers become 0
    table = torch.stack([own, made.added, made.total, normed])
    chart = drawing(heatmap, table, rows, columns=ABOUT, kind="signed", names=("", "about"), cell=(110, 44))
    with picture:
        context, nothing = made.trace.context[BANK], float(made.added.abs().max()) == 0
        teaching.steps(
            "residual",
            f'After the head, "bank" is more about {"neither" if nothing else ABOUT[int(made.total[:2].argmax())]}.',
            {" ".join(made.words): chart},
            "added = context @ w_output   # (2,) @ (2, 3) -> (3,)",
            "total = embedding + added    # the residual",
            "normed = (total - total.mean()) / total.std(unbiased=False)",
            note=f"The context {vector(context, 2)} becomes {vector(made.added, 2)}; {vector(own)} becomes "
            f"{vector(made.total, 2)}.",
        )


def _real() -> None:
    """What a real head adds to "bank", beside the length of the vector that it is added to."""
    encoder = current_encoder()
    if not encoder.recomputable:
        return
    encoding, head = cached_encode(encoder, teaching.REAL), Head(0, min(10, encoder.n_heads - 1))
    steps, place = head_steps(encoder, encoding, *head), encoding.words[1].start
    if "output" in steps:
        added, own = (decimal(steps[name].values[place].norm()) for name in ("output", "input"))
        st.text(
            f'{teaching.REAL} A real head, {head}, adds a vector of length {added} to that of "bank", {own} long.',
            width="stretch",
        )
