"""The kernel, as source, beside its numbers."""

import streamlit as st
from torch import Tensor

from pages.learn.from_scratch.lesson_pages.random_projections import project
from selfattn.charts.lesson_steps import kernel_code, values_table
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.lessons import kernel_source, one_head_by_hand, worked_example
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
TAKE = "Scores, scale, mask, softmax, weighted sum: attention is ten lines of arithmetic."


def show(picture, numbers) -> None:
    it, six = worked_example.compute(), project()[-1]
    examples = {"bank": one_head_by_hand.compute().trace, "it": it, "Raschka's six words": six}
    with numbers:
        which = teaching.example("kernel", tuple(examples))
        trace = examples[which]
        row, places = (one_head_by_hand.BANK, 2) if which == "bank" else (0, 2) if which == "it" else (1, 4)
        code = {"attend": kernel_source.SIGNATURE} | {name: f"    {line}" for name, line in kernel_code().items()}
        lines = kernel_source.code_lines(kernel_source.PARTS[0])
        st.caption(f"{lines} lines and one small function; the check of the inputs is left out.")
        with st.expander("The whole source, to copy"):
            for part in kernel_source.PARTS:
                st.code(kernel_source.source(part), language="python", wrap_lines=True)
    made = {name: values for name, values in vars(trace).items() if isinstance(values, Tensor)}  # there is no mask
    numbered = {name: vector(values[min(row, len(values) - 1)], places) for name, values in made.items()}
    shapes = {name: str(tuple(values.shape)) for name, values in made.items()}
    texts = [(name if name in code else "attend", f"{name:12s} {shapes[name]:7s} {numbered[name]}") for name in made]
    chart = values_table(texts, current_theme())
    caption = f"For the word that asks: weights {numbered['weights']}, context {numbered['context']}."
    with picture:
        teaching.steps({"datum.line": ("Each step's shape, and its numbers for one word", chart)}, caption, own=code)
        teaching.prose(
            "A row that may attend to nothing gets weights 0. Many lessons add −1e9 instead of −∞; there, a row that is masked "
            "whole comes out *even*, as if it attended to everything."
        )
