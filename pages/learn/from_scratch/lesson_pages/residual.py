"""Add: the context is added to the word's own vector, and the sum is brought to one size."""

import streamlit as st
import torch
from torch import Tensor

from selfattn.analysis.steps import head_steps
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached_encode
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.encoders.capture import Head
from selfattn.lessons.one_head_by_hand import ABOUT, BANK, WORDS, Bank, compute, embeddings_of
from selfattn.lessons.terms import TERMS
from selfattn.numbers import decimal, vector
from selfattn.views.stage import Column, Mark, Plane, Scene

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


def draw(answered: bool) -> Scene:
    sentence = (
        st.radio("The other word", list(WORDS), key="residual.sentence", horizontal=True) if answered else "river"
    )
    typed = embeddings_of(sentence)
    if answered:
        with st.expander("Your own embeddings"):
            typed = teaching.vectors("residual", typed, 110)
        _real()
    made = compute(sentence, typed)
    own, nothing = made.embeddings[BANK], float(made.added.abs().max()) == 0
    mean, spread = made.total.mean(), made.total.std(unbiased=False)
    normed = (made.total - mean) / (spread if spread > 0 else 1.0)  # equal numbers become 0
    steps = {"own vector": own, "+ context × W_O": made.added, "= sum": made.total, "layer norm": normed}
    columns = [Column(title, title, values[:, None], asked=values is not own) for title, values in steps.items()]
    rows = zip(ABOUT, own, made.added, made.total, normed)
    lines = [
        f"{name}: {decimal(one)} + {decimal(more)} = {decimal(both)}; ({decimal(both)} − {decimal(mean)}) / {decimal(spread)} = "
        f"{decimal(last)} (rounded)"
        for name, one, more, both, last in rows
    ]
    about = "neither" if nothing else ABOUT[int(made.total[:2].argmax())]
    return Scene(
        f'After the head, "bank" is more about {about}: {vector(made.total[:2], 2)}.',
        ABOUT,
        tuple(columns),
        (meaning(made, own, made.total),),
        lit=1,
        lines=lines,
        note="W_O halves the context here. Layer norm: minus the mean of the three numbers, divided by their spread.",
    )


def meaning(made: Bank, start: Tensor, end: Tensor) -> Plane:
    """The words by money and water, and "bank" on its way from one vector to another."""
    words = {word.lower(): _point(row) for word, row in zip(made.words, made.embeddings)}
    marks = [Mark(word, word, at) for word, at in words.items() if word not in ("the", "of", "bank")]
    moved = Mark("bank", "bank", _point(end), _point(start), "ink", 0.15, before=(_point(start), _point(start)))
    every = torch.cat([made.embeddings[:, :2].flatten(), start[:2], end[:2]])
    ends = min(0.0, float(every.min())) - 0.5, float(every.max()) + 0.5
    return Plane("meaning", "What a word is about", (*marks, moved), (ends, ends), ("money →", "↑ water"))


def _point(row: Tensor) -> tuple[float, float]:
    return float(row[0]), float(row[1])


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
