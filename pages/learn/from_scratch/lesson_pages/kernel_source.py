"""The kernel, as source, beside its numbers."""

from collections.abc import Sequence

import streamlit as st
import torch
from torch import Tensor

from pages.learn.from_scratch.lesson_pages.random_projections import TOKENS, project
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached_encode
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.kernel import AttentionTrace, add_mask, attend, rounded
from selfattn.lessons import one_head_by_hand, worked_example
from selfattn.views.kernel_lines import kernel_lines, source

TITLE = "The kernel, line by line"
STEP = "context"
IDEA = (
    "This is the code that computes every weight on this site, for the lessons and for real heads. It is read from the running "
    "program, not retyped."
)
QUESTION = "The same lines run for one head and for all heads of a layer at once. What changes?"
OPTIONS = ("nothing: only the shapes get more dimensions", "a loop over the heads is added", "every line")
REASON = "`@` multiplies the last two dimensions and goes through all others by itself."
PARTS = (attend, add_mask, rounded)
LAYER = "all heads of a real layer"
TAKE = "Scores, scale, mask, softmax, weighted sum: that is all of attention."


def show(picture, answered) -> None:
    made = one_head_by_hand.compute()
    examples = {  # the trace, its tokens, the token that asks (-1: none of them) and its name
        "bank": (made.trace, made.words, one_head_by_hand.BANK, ""),
        "it": (worked_example.compute(), worked_example.TOKENS, -1, "it"),
        "Raschka's six words": (project()[1], TOKENS, 1, ""),
        **_layer(),
    }
    which = teaching.example("kernel", tuple(examples))
    trace, tokens, asks, text = examples[which]
    st.text("All of it; the check of the inputs alone is left out.")
    with st.expander("The whole source, to copy"):
        for part in PARTS:
            st.code(source(part), language=None, wrap_lines=True)  # colours of Python are too pale
    with picture:
        shapes = {name: f"   # {tuple(made.shape)}" for name, made in vars(trace).items() if isinstance(made, Tensor)}
        if answered and LAYER in examples and which != LAYER:
            shapes = {
                name: f"{said}, all heads {tuple(getattr(examples[LAYER][0], name).shape)}"
                for name, said in shapes.items()
            }
        code = "\n".join(line + shapes.get(name, "") for name, line in kernel_lines().items())
        st.code(code, language=None, wrap_lines=True)
        if not answered:
            return
        if which == LAYER:
            st.text(f"Of these {len(trace.query)} heads, the last:")
            trace = attend(trace.query[-1], trace.key[-1], trace.value[-1], scale=trace.scale)
        teaching.kernel(f"kernel, {which}", trace, tokens, asks, text)
        teaching.prose(
            "A row that may attend to nothing gets weights 0. Many lessons add −1e9 instead of −∞; there, a row that is masked "
            "whole comes out *even*, as if it attended to everything."
        )


def _layer() -> dict[str, tuple[AttentionTrace, Sequence[str], int, str]]:
    """All heads of layer 0 at once, (n_heads, n, d_head); none where the encoder adds terms of its own, or isn't recomputed."""
    encoder = current_encoder()
    if not encoder.recomputable:
        return {}
    encoding = cached_encode(encoder, teaching.REAL)
    heads = [encoding.trace(0, head) for head in range(encoder.n_heads)]
    query, key, value = (torch.stack([getattr(head, name) for head in heads]) for name in ("query", "key", "value"))
    made = attend(query, key, value, scale=heads[0].scale)
    return {} if heads[0].terms else {LAYER: (made, encoding.tokens, encoding.words[1].start, "")}
