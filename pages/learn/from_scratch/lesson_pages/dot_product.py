"""The dot product, by numbers and by angle."""

import pandas as pd
import streamlit as st

from selfattn.captions.terms import TERMS
from selfattn.charts.arrows import arrows
from selfattn.charts.curves import at_value
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.lessons import dot_product, one_head_by_hand
from selfattn.numbers import decimal, plain

TITLE = "Score: the dot product"
STEP = "scores"
IDEA = (
    f"How well does a key fit a query? {TERMS['dot product']} That sum is the *score*: large where both are about the same, 0 "
    "where they have nothing in common, negative where they point apart."
)
QUESTION = "The query of *bank* is [1, 1], the key of *river* is [0, 3]. What is the score?"
OPTIONS = ("3", "1", "4")
REASON = "1 × 0 + 1 × 3 = 3."
TAKE = "Products added up, or length × length × cosine: a score depends on lengths as well as on the angle."
SOURCE = "a and b"


def show(picture, numbers) -> None:
    river = one_head_by_hand.compute().trace
    examples = {
        "bank": {
            "query of bank": river.query[one_head_by_hand.BANK].tolist(),
            "key of river": river.key[one_head_by_hand.LAST].tolist(),
        },
        SOURCE: {"a": dot_product.A, "b": dot_product.B},
    }
    with numbers, teaching.messages():
        typed = teaching.vectors("dot-product", examples[teaching.example("dot-product", tuple(examples))])
        teaching.formula(r"a\cdot b = \sum_k a_k b_k = |a|\,|b|\cos\theta")
        product = dot_product.dot(*typed.values())
        terms = " + ".join(f"({plain(x)} × {plain(y)})" for x, y in zip(product.a.tolist(), product.b.tolist()))
        st.text(f"{terms}  =  {plain(product.total)}")
        st.caption("Turn the second vector away from the first, then make it longer:")
        degrees = st.slider("Angle in degrees", 0, 180, 60, key="dot-product.angle")
        length = st.slider("Length of b", 0.5, 5.0, 2.0, 0.5, key="dot-product.length")
    scores = [dot_product.at_angle(angle, 2.0, length).total for angle in range(181)]
    curve = pd.DataFrame({"angle": range(181), "score": scores})
    turned = at_value(curve, "angle", "score", degrees, current_theme(), ("angle", "a · b"), 280)
    charts = {
        "scores": ("The two vectors", _arrows(tuple(typed), product)),
        "scores turned": ("Two other vectors: their score by the angle", turned),
    }
    with picture:
        teaching.steps(
            charts,
            f"Lengths {product.length_a:.2f} and {product.length_b:.2f}, {product.degrees:.0f}° apart: {product.length_a:.2f} × "
            f"{product.length_b:.2f} × {decimal(product.cosine)} = {decimal(product.total)}. The others, 2 and {length:g} long, "
            f"{degrees}° apart, score {decimal(scores[degrees])}.",
            ("scores",),
        )
        teaching.prose(
            'You may read that "a large score means a small angle". Only among vectors of one length! The next stop shows what '
            "comes of it."
        )
        teaching.real_head("scores")


def _arrows(names, product: dot_product.DotProduct):
    x, y = zip(product.a.tolist(), product.b.tolist())
    lengths = [product.length_a, product.length_b]
    frame = pd.DataFrame({"kind": ["query", "key"], "label": names, "x": x, "y": y, "length": lengths})
    return arrows(frame, current_theme(), "length", "query", 280)
