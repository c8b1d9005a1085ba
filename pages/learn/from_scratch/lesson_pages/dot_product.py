"""The dot product, by numbers and by angle: one number for how far two vectors point the same way *and* how long they are.

Source: a . b = sum over k of a_k b_k = |a| |b| cos(angle). "A large score means a small angle" holds only for vectors of one
length; the stop on a key's length shows the exception.
"""

import math

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from selfattn.captions.terms import TERMS
from selfattn.charts.arrows import arrows
from selfattn.charts.curves import at_value
from selfattn.charts.vega import Spec
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.lessons import one_head_by_hand
from selfattn.numbers import decimal, plain

TITLE = "Score: the dot product"
STEP = "scores"
IDEA = (
    f"How well does a key fit a query? {TERMS['dot product']} That sum is the *score*: positive where both are about the same, "
    "0 where they have nothing in common, negative where they point apart."
)
QUESTION = "The query of *bank* is [1, 1], the key of *river* is [0, 3]. What is the score?"
OPTIONS = ("3", "1", "4")
REASON = "1 × 0 + 1 × 3 = 3."
TAKE = "Products added up, or length × length × cosine: a score depends on lengths as well as on the angle."
SOURCE = {"a": (2.0, 3.0), "b": (5.0, -1.0)}


def show(picture, numbers) -> None:
    river = one_head_by_hand.compute().trace
    examples = {
        "bank": {
            "query of bank": river.query[one_head_by_hand.BANK].tolist(),
            "key of river": river.key[one_head_by_hand.LAST].tolist(),
        },
        "a and b": SOURCE,
    }
    with numbers:
        typed = teaching.vectors(
            "dot-product", examples[teaching.example("dot-product", tuple(examples))], check=cosine
        )
        teaching.formula(r"a\cdot b = \sum_k a_k b_k = |a|\,|b|\cos\theta")
        a, b = typed.values()
        angle = cosine(a, b)
        terms = " + ".join(f"({plain(x)} × {plain(y)})" for x, y in zip(a.tolist(), b.tolist()))
        st.text(f"{terms}  =  {plain(float(a @ b))}")
        st.text("Turn the second vector away from the first, then make it longer:")
        degrees = st.slider("Angle in degrees", 0, 180, 60, key="dot-product.angle")
        length = st.slider("Length of b", 0.5, 5.0, 2.0, 0.5, key="dot-product.length")
    turns = torch.arange(181, dtype=torch.float64).deg2rad()
    scores = (torch.stack([turns.cos(), turns.sin()], 1) * length @ torch.tensor([2.0, 0.0]).double()).tolist()
    curve = pd.DataFrame({"angle": range(181), "score": scores})
    turned = at_value(curve, "angle", "score", degrees, current_theme(), ("angle", "a · b"), 280)
    charts = {
        "scores": ("The two vectors", _arrows(typed)),
        "scores turned": ("Two other vectors: their score by the angle", turned),
    }
    with picture:
        teaching.steps(
            charts,
            f"Lengths {a.norm():.2f} and {b.norm():.2f}, {math.degrees(math.acos(angle)):.0f}° apart: {a.norm():.2f} × "
            f"{b.norm():.2f} × {decimal(angle)} = {decimal(float(a @ b))}. The others, 2 and {length:g} long, "
            f"{degrees}° apart, score {decimal(scores[degrees])}.",
            ("scores",),
        )
        teaching.prose(
            'You may read that "a large score means a small angle". Only among vectors of one length! *Score: length counts '
            "too*, beside this stop, shows what comes of it."
        )
        teaching.real_head("scores")


def cosine(a: Tensor, b: Tensor) -> float:
    """Of the angle between two vectors (d,), −1 to 1; ValueError where one is the zero vector, which has no angle."""
    lengths = float(a.norm() * b.norm())
    if lengths == 0:
        raise ValueError("Expected vectors with a direction, got a zero vector, which has none. Change one number.")
    return max(-1.0, min(1.0, float(a @ b) / lengths))


def _arrows(typed: dict[str, Tensor]) -> Spec:
    frame = pd.DataFrame(torch.stack(list(typed.values())).tolist(), columns=["x", "y"])
    frame = frame.assign(
        kind=["query", "key"], label=list(typed), length=[float(each.norm()) for each in typed.values()]
    )
    return arrows(frame, current_theme(), "length", "query", 280)
