"""The kernel, as source, beside its numbers."""

import streamlit as st

from selfattn.dashboard import teaching
from selfattn.lessons import kernel_source, worked_example

TITLE = "The kernel, in under twenty lines"
STEP = "sentence"


def show() -> None:
    attend, *_ = kernel_source.PARTS
    teaching.prose(
        f"This is the code that computes every weight on this site, for these lessons and for real heads: "
        f"{kernel_source.code_lines(attend)} lines, and one small function it calls. It is read from the running "
        "program, not retyped (only the check of its inputs is left out)."
    )
    with st.container(horizontal=True, gap="large"):
        with st.container(width=620):
            for part in kernel_source.PARTS:
                st.code(kernel_source.source(part), language="python", wrap_lines=True)
        with st.container(width=360):
            teaching.prose("**Line by line, on the worked example**")
            trace = worked_example.compute()
            for name in ("query", "key", "value", "scores", "scaled", "masked", "weights", "context"):
                rows = ["[" + ", ".join(f"{n:.2f}" for n in row) + "]" for row in getattr(trace, name).tolist()]
                st.text(f"{name:8s} {'  '.join(rows)}", width="stretch")
    teaching.prose(
        "It works on one head or on any batch of heads: the dots in `(..., n, d_head)`. "
        "A row that may attend to nothing gets weights 0. Many lessons add −1e9 instead of −∞; there, a row that is "
        "masked whole comes out *even*, as if it attended to everything."
    )
