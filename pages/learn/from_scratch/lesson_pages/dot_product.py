"""The dot product, by numbers and by angle: one number for how far two vectors point the same way *and* how long they are.

Source: a . b = sum over k of a_k b_k = |a| |b| cos(angle). "A large score means a small angle" holds only for vectors of one
length; the stop on a key's length shows the exception.
"""

import math
from collections.abc import Mapping

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from selfattn.charts.arrows import arrows
from selfattn.dashboard import teaching
from selfattn.lessons.one_head_by_hand import BANK, LAST, compute
from selfattn.lessons.terms import TERMS
from selfattn.numbers import decimal, plain
from selfattn.views.lesson import Drawing, drawing

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


def show(picture) -> None:
    river = compute().trace
    examples = {"bank": {"query of bank": river.query[BANK], "key of river": river.key[LAST]}, "a and b": SOURCE}
    published = examples[teaching.example("dot-product", tuple(examples))]
    typed = teaching.vectors("dot-product", published, check=cosine)
    teaching.formula(r"a\cdot b = \sum_k a_k b_k = |a|\,|b|\cos\theta")
    a, b = typed.values()
    angle = cosine(a, b)
    terms = " + ".join(f"({plain(x)} × {plain(y)})" for x, y in zip(a.tolist(), b.tolist()))
    st.text(f"{terms}  =  {plain(float(a @ b))}")
    st.text("Turn the second vector away from the first, then make it longer:")
    degrees = st.slider("Angle in degrees", 0, 180, 60, key="dot-product.angle")
    length = st.slider("Length of b", 0.5, 5.0, 2.0, 0.5, key="dot-product.length")
    turn = math.radians(degrees)
    other = {"a": a.new_tensor([2, 0]), "b": length * a.new_tensor([math.cos(turn), math.sin(turn)])}
    charts = {"The two vectors": _drawn(typed), f"Two others, {degrees}° apart": _drawn(other)}
    with picture:
        teaching.steps(
            "dot product",
            f"Length × length × cosine: {a.norm():.2f} × {b.norm():.2f} × {decimal(angle)} = {decimal(float(a @ b))}.",
            charts,
            "scores",
            note=f"The others, 2 and {length:g} long, score {decimal(2 * length * math.cos(turn))}.",
        )
        teaching.prose(
            'You may read that "a large score means a small angle". Only among vectors of one length! *Score: length counts '
            "too*, beside this stop, shows what comes of it."
        )
        teaching.real_head("scores")


def _drawn(vectors: Mapping[str, Tensor]) -> Drawing:
    """Two vectors as arrows."""
    frame = pd.DataFrame(torch.stack([*vectors.values()]).tolist(), columns=["x", "y"])
    lengths = [float(vector.norm()) for vector in vectors.values()]
    frame = frame.assign(kind=["query", "key"], label=[*vectors], length=lengths)
    return drawing(arrows, frame, thickness="length", strong="query", size=280)


def cosine(a: Tensor, b: Tensor) -> float:
    """Of the angle between two vectors (d,), −1 to 1; ValueError where one is the zero vector, which has no angle."""
    lengths = float(a.norm() * b.norm())
    if lengths == 0:
        raise ValueError("Expected vectors with a direction, got a zero vector, which has none. Change one number.")
    return max(-1.0, min(1.0, float(a @ b) / lengths))
