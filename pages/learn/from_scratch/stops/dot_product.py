"""The dot product, by numbers and by angle."""

import pandas as pd
import streamlit as st

from selfattn.charts.arrows import arrows
from selfattn.charts.curves import at_value
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.lessons import dot_product

TITLE = "Score: the dot product"
STEP = "score"


def show() -> None:
    teaching.prose(
        "How well does a key fit a query? Multiply them number by number and add up. That sum, the **dot product**, is "
        "the *score*. It grows when the vectors point the same way, is 0 when they stand at a right angle, and turns "
        "negative when they point apart."
    )
    teaching.formula(r"a\cdot b = \sum_k a_k b_k = |a|\,|b|\cos\theta")
    with teaching.messages():
        typed = teaching.vectors("dot-product", {"a": dot_product.A, "b": dot_product.B})
        product = dot_product.dot(typed["a"], typed["b"])
    terms = " + ".join(f"({x:g} × {y:g})" for x, y in zip(product.a.tolist(), product.b.tolist()))
    st.text(f"{terms}  =  {product.total:g}")
    with teaching.row():
        if len(product.a) == 2:
            _by_numbers(product)
        with teaching.panel("By angle: turn b away from a, then make it longer", 420):
            _by_angle()
    teaching.prose(
        'You may read that "a large score means a small angle". Only among vectors of one length! '
        "Length counts as much as angle; the next stop shows what comes of it."
    )


def _by_numbers(product: dot_product.DotProduct) -> None:
    x, y = zip(product.a.tolist(), product.b.tolist())
    length_a, length_b = product.length_a, product.length_b
    frame = pd.DataFrame(
        {"kind": ["query", "key"], "label": ["a", "b"], "x": x, "y": y, "length": [length_a, length_b]}
    )
    caption = (
        f"Lengths {length_a:.2f} and {length_b:.2f}, {product.degrees:.0f}° apart: "
        f"{length_a:.2f} × {length_b:.2f} × {product.cosine:.2f} = {product.total:.2f}."
    )
    teaching.figure("The two vectors", arrows(frame, current_theme(), "length", "query"), caption, 420)


def _by_angle() -> None:
    with st.container(horizontal=True):
        degrees = st.slider("Angle in degrees", 0, 180, 60, key="dot-product.angle", width=190)
        length = st.slider("Length of b", 0.5, 5.0, 2.0, 0.5, key="dot-product.length", width=190)
    scores = [dot_product.at_angle(angle, 2.0, length).total for angle in range(181)]
    curve = pd.DataFrame({"angle": range(181), "score": scores})
    show_chart(
        at_value(curve, "angle", "score", degrees, current_theme(), ("angle", "a · b")),
        f"a has length 2, b has {length:g}; at {degrees}° the score is {scores[degrees]:.2f}.",
        name="the score by the angle",
    )
