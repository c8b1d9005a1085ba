"""The kernel, as source, beside its numbers."""

import inspect

import streamlit as st
import torch
from torch import Tensor

from pages.learn.from_scratch.lesson_pages.random_projections import project
from selfattn.charts.code_view import source
from selfattn.charts.lesson_steps import kernel_code, values_table
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached_encode
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.dashboard.figures import current_theme
from selfattn.kernel import AttentionTrace, add_mask, attend
from selfattn.lessons import one_head_by_hand, worked_example
from selfattn.numbers import vector

TITLE = "The kernel, in under twenty lines"
STEP = "context"
IDEA = (
    "This is the code that computes every weight on this site, for the lessons and for real heads. It is read from the running "
    "program, not retyped."
)
QUESTION = "The same lines run for one head and for all heads of a layer at once. What changes?"
OPTIONS = ("nothing: only the shapes get more dimensions", "a loop over the heads is added", "every line")
REASON = "`@` multiplies the last two dimensions and goes through all others by itself."
PARTS = (attend, add_mask)
SIGNATURE = f"def attend({', '.join(inspect.signature(attend).parameters)}):"
LAYER, SHOWN = "all heads of a real layer", 6  # of a long row so many numbers
TAKE = "Scores, scale, mask, softmax, weighted sum: attention is ten lines of arithmetic."


def show(picture) -> None:
    examples = {  # the trace, the row of the word that asks, and how many decimals
        "bank": (one_head_by_hand.compute().trace, one_head_by_hand.BANK, 2),
        "it": (worked_example.compute(), 0, 2),
        "Raschka's six words": (project()[1], 1, 4),
        **_layer(),
    }
    which = teaching.example("kernel", tuple(examples))
    trace, row, places = examples[which]
    code = {"attend": SIGNATURE} | {name: f"    {line}" for name, line in kernel_code().items()}
    lines = [line for line in map(str.strip, source(attend).splitlines()) if line and not line.startswith("#")]
    st.text(f"{len(lines)} lines and one small function; the check of the inputs is left out.")
    with st.expander("The whole source, to copy"):
        for part in PARTS:
            st.code(source(part), language=None, wrap_lines=True)  # colours of Python are too pale
    made = {name: values for name, values in vars(trace).items() if isinstance(values, Tensor)}  # there is no mask
    numbered = {name: _numbers(values, row, places) for name, values in made.items()}
    shapes = {name: str(tuple(values.shape)) for name, values in made.items()}
    wide = max(7, *map(len, shapes.values()))
    texts = [
        (name if name in code else "attend", f"{name:12s} {shapes[name]:{wide}s} {numbered[name]}") for name in made
    ]
    chart = values_table(texts, current_theme())
    asks = "the word that asks" + (f", in head {len(trace.weights) - 1}" if trace.weights.dim() == 3 else "")
    caption = f"For {asks}: weights {numbered['weights']}, context {numbered['context']}."
    with picture:
        teaching.steps({"datum.line": ("Each step's shape, and its numbers for one word", chart)}, caption, own=code)
        teaching.prose(
            "A row that may attend to nothing gets weights 0. Many lessons add −1e9 instead of −∞; there, a row that is masked "
            "whole comes out *even*, as if it attended to everything."
        )


def _layer() -> dict[str, tuple[AttentionTrace, int, int]]:
    """All heads of layer 0 at once, (n_heads, n, d_head); none where the encoder adds terms of its own, or isn't recomputed."""
    encoder = current_encoder()
    if not encoder.recomputable:
        return {}
    encoding = cached_encode(encoder, teaching.REAL)
    heads = [encoding.trace(0, head) for head in range(encoder.n_heads)]
    query, key, value = (torch.stack([getattr(head, name) for head in heads]) for name in ("query", "key", "value"))
    made = attend(query, key, value, scale=heads[0].scale)
    return {} if heads[0].terms else {LAYER: (made, encoding.words[1].start, 2)}


def _numbers(values: Tensor, row: int, places: int) -> str:
    """A row's numbers, of the last head where there are several; of a long one the first."""
    one = values[..., min(row, values.shape[-2] - 1), :].view(-1, values.shape[-1])[-1]
    return vector(one, places) if len(one) <= SHOWN else f"{vector(one[:SHOWN], places)[:-1]}, …]"
