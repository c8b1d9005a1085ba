"""The dot product, by numbers and by angle: one number for how far two vectors point the same way *and* how long they are.

Source: a . b = sum over k of a_k b_k = |a| |b| cos(angle). "A large score means a small angle" holds only for vectors of one
length; the stop on a key's length shows the exception.
"""

import math
from collections.abc import Sequence

import streamlit as st
import torch
from torch import Tensor

from selfattn.dashboard import teaching
from selfattn.lessons.one_head_by_hand import BANK, LAST, compute
from selfattn.lessons.terms import TERMS
from selfattn.numbers import decimal, plain
from selfattn.views.stage import Column, Mark, Plane, Scene, square

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


def draw(answered: bool) -> Scene:
    river = compute()
    if not answered:
        return _scene("bank", river.trace.query[BANK], river.words, river.trace.key, LAST, BANK)
    which = teaching.example("dot-product", ("bank", "a and b", "two to turn"))
    if which == "two to turn":
        degrees = st.slider("Angle in degrees", 0, 180, 60, key="dot-product.angle")
        length = st.slider("Length of b", 0.5, 5.0, 2.0, 0.5, key="dot-product.length")
        turn = math.radians(degrees)
        keys = length * torch.tensor([[math.cos(turn), math.sin(turn)]], dtype=torch.float64)
        return _scene("a", keys.new_tensor([2, 0]), ("b",), keys, 0, room=5.5)
    examples = {
        "bank": {"query of bank": river.trace.query[BANK], "key of river": river.trace.key[LAST]},
        "a and b": SOURCE,
    }
    with st.expander("Your own numbers"):
        a, b = teaching.vectors("dot-product", examples[which], check=cosine).values()
    if which == "bank":
        return _scene("bank", a, river.words, torch.cat([river.trace.key[:LAST], b[None]]), LAST, BANK)
    return _scene("a", a, ("b",), b[None], 0)


def _scene(
    asks: str, query: Tensor, names: Sequence[str], keys: Tensor, shown: int, row: int = 0, room: float = 0.5
) -> Scene:
    """A query (2,) meets the keys (n, 2); shown: the key that is drawn beside it, and whose product is the finding."""
    products = query * keys
    scores, key = products.sum(1), keys[shown]
    sums = [
        f"{name}: {' + '.join(f'({plain(x)} × {plain(y)})' for x, y in zip(query.tolist(), each.tolist()))} = {plain(score)}"
        for name, each, score in zip(names, keys, scores.tolist())
    ]
    angle = cosine(query, key)
    ends = min(-2.0, float(scores.min())), max(3.0, float(scores.max()))
    marks = (
        Mark("query", f"query of {asks}" if asks == "bank" else asks, _point(query), (0, 0), "ink", 0.3),
        Mark(
            f"key {shown}", f"key of {names[shown]}" if asks == "bank" else names[shown], _point(key), (0, 0), "", 0.3
        ),
    )
    bounds = square(query, key, room=0.5) if room < 1 else ((-room, room), (-room, room))
    return Scene(
        f'"{names[shown]}" scores {plain(float(query @ key))}: length {query.norm():.2f} × length {key.norm():.2f} × cosine '
        f"{decimal(angle)}.",
        names,
        (
            Column("key", "key", keys, above=(f"query of {asks}", query[None])),
            Column("products", "query × key", products, asked=True),
            Column("score", "score", scores, ends, asked=True),
        ),
        (Plane("compared", f"{math.degrees(math.acos(angle)):.0f}° apart", marks, bounds),),
        asks=row,
        lit=shown,
        lines=sums,
        note="A large score means a small angle only among vectors of one length.",
    )


def _point(vector: Tensor) -> tuple[float, float]:
    return float(vector[0]), float(vector[1])


def cosine(a: Tensor, b: Tensor) -> float:
    """Of the angle between two vectors (d,), −1 to 1; ValueError where one is the zero vector, which has no angle."""
    lengths = float(a.norm() * b.norm())
    if lengths == 0:
        raise ValueError("Expected vectors with a direction, got a zero vector, which has none. Change one number.")
    return max(-1.0, min(1.0, float(a @ b) / lengths))
