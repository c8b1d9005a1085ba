"""The dot product: one number for how far two vectors point the same way *and* how long they are.

Source: a . b = sum over k of a_k b_k = |a| |b| cos(angle). The lesson's "a large score means a small angle" holds only
for vectors of one length; `selfattn.lessons.key_length` shows the exception.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from selfattn.lessons import typed_numbers

A = (2.0, 3.0)
B = (5.0, -1.0)


@dataclass(frozen=True, eq=False)
class DotProduct:
    """Both readings of one dot product: the sum of products, and lengths times cosine."""

    a: Tensor  # (d,)
    b: Tensor  # (d,)
    total: float  # the sum of a_k b_k: the score
    length_a: float
    length_b: float
    cosine: float  # -1 to 1
    degrees: float  # 0 to 180


def dot(a: Sequence[float] = A, b: Sequence[float] = B) -> DotProduct:
    """The dot product of two vectors of one length; ValueError where one is the zero vector (it has no angle)."""
    first = typed_numbers.vector("a", a)
    second = typed_numbers.vector("b", b, len(first))
    length_a, length_b = float(first.norm()), float(second.norm())
    if length_a == 0 or length_b == 0:
        raise ValueError("Expected vectors with a direction, got a zero vector, which has none. Change one number.")
    total = float((first * second).sum())
    cosine = max(-1.0, min(1.0, total / (length_a * length_b)))
    return DotProduct(first, second, total, length_a, length_b, cosine, math.degrees(math.acos(cosine)))


def at_angle(degrees: float, length_a: float, length_b: float) -> DotProduct:
    """a lies along the first axis, b stands at `degrees` to it."""
    typed_numbers.number("Angle", degrees, -360, 360)
    angle = math.radians(degrees)
    return dot((length_a, 0.0), (length_b * math.cos(angle), length_b * math.sin(angle)))
