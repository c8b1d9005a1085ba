"""S4: the dot product, by numbers and by angle."""

import pandas as pd
import streamlit as st

from selfattn.charts import lesson_charts as charts
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.lessons import dot_product

TITLE = "Score: the dot product"
STEP = "score"


def show() -> None:
    parts.prose(
        "How well does a key fit a query? Multiply them number by number and add up. That sum, the **dot product**, is "
        "the *score*. It grows when the vectors point the same way, is 0 when they stand at a right angle, and turns "
        "negative when they point apart."
    )
    parts.formula(r"a\cdot b = \sum_k a_k b_k = |a|\,|b|\cos\theta")
    with parts.messages():
        typed = parts.vectors("dot-product", {"a": dot_product.A, "b": dot_product.B})
        found = dot_product.dot(typed["a"], typed["b"])
        products = " + ".join(f"({x:g} × {y:g})" for x, y in zip(found.a.tolist(), found.b.tolist()))
    st.text(f"{products}  =  {found.total:g}")
    with parts.row():
        if len(found.a) == 2:
            _by_numbers(found)
        with parts.figure("By angle: turn b away from a, then make it longer", 420):
            _by_angle()
    parts.prose(
        'You may read that "a large score means a small angle". Only among vectors of one length! '
        "Length counts as much as angle; the next stop shows what comes of it."
    )


def _by_numbers(found: dot_product.DotProduct) -> None:
    frame = pd.DataFrame(
        {
            "kind": ["query", "key"],
            "label": ["a", "b"],
            "x": [float(found.a[0]), float(found.b[0])],
            "y": [float(found.a[1]), float(found.b[1])],
            "length": [found.length_a, found.length_b],
        }
    )
    with parts.figure("The two vectors", 420):
        show_chart(
            charts.arrows(frame, current_theme(), "length", "query"),
            f"Lengths {found.length_a:.2f} and {found.length_b:.2f}, {found.degrees:.0f}° apart: "
            f"{found.length_a:.2f} × {found.length_b:.2f} × {found.cosine:.2f} = {found.total:.2f}.",
            width="content",
        )


def _by_angle() -> None:
    with st.container(horizontal=True):
        degrees = st.slider("Angle in degrees", 0, 180, 60, key="dot-product.angle", width=190)
        length = st.slider("Length of b", 0.5, 5.0, 2.0, 0.5, key="dot-product.length", width=190)
    here = dot_product.at_angle(degrees, 2.0, length)
    curve = pd.DataFrame({"angle": range(181)})
    curve["score"] = [dot_product.at_angle(angle, 2.0, length).total for angle in range(181)]
    show_chart(
        charts.at_value(curve, "angle", "score", degrees, current_theme(), ("angle", "a · b")),
        f"a has length 2, b has {length:g}; at {degrees}° the score is {here.total:.2f}.",
        width="content",
    )
