"""The kernel, as source, beside its numbers."""

import streamlit as st

from selfattn.dashboard import teaching
from selfattn.lessons import bank, kernel_source, random_projections, worked_example
from selfattn.numbers import vector

TITLE = "The kernel, in under twenty lines"
STEP = "sentence"
IDEA = (
    "This is the code that computes every weight on this site, for the lessons and for real heads. It is read from the running "
    "program, not retyped."
)
QUESTION = "The same lines run for one head and for all heads of a layer at once. What changes?"
OPTIONS = ("nothing: only the shapes get more dimensions", "a loop over the heads is added", "every line")
TAKE = "Scores, scale, mask, softmax, weighted sum: attention is ten lines of arithmetic."
NAMES = ("query", "key", "value", "scores", "scaled", "masked", "powers", "total", "weights", "context")


def show(*_) -> None:
    attend, *_ = kernel_source.PARTS
    it, six = worked_example.compute(), random_projections.project().trace
    examples = {"bank": bank.compute().trace, "it": it, "Raschka's six words": six}
    with st.container(horizontal=True, gap="large"):
        with st.container(width=620):
            for part in kernel_source.PARTS:
                st.code(kernel_source.source(part), language="python", wrap_lines=True)
            st.caption(
                f"{kernel_source.code_lines(attend)} lines and one small function; the check of the inputs is left out."
            )
        with st.container(width=480):
            which = teaching.example("kernel", tuple(examples))
            trace = examples[which]
            row, places = (bank.BANK, 2) if which == "bank" else (0, 2) if which == "it" else (1, 4)
            for name in NAMES:
                values = getattr(trace, name)
                st.text(
                    f"{name:8s} {tuple(values.shape)!s:8s} {vector(values[min(row, len(values) - 1)], places)}",
                    width="stretch",
                )
            st.caption("Each step's shape, and its row of the word that asks.")
    teaching.prose(
        "A row that may attend to nothing gets weights 0. Many lessons add −1e9 instead of −∞; there, a row that is masked whole "
        "comes out *even*, as if it attended to everything."
    )
