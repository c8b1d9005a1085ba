"""Attention as a soft lookup: a blend of all drawers instead of the one that fits best.

Source: Bahdanau et al. 2015 (soft search over positions); Graves et al. 2014, "Neural Turing Machines", section 3.3.1
(content addressing with a sharpness), whose inverse is the temperature here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from selfattn.kernel import AttentionTrace, attend
from selfattn.lessons import typed_numbers

DRAWERS = ("loans", "cheques", "rivers", "fishing")
QUERY = (0.3, 0.9)  # (about money, about water): what I look for
KEYS = ((1.0, 0.1), (0.9, 0.2), (0.1, 1.0), (0.2, 0.8))  # what each drawer is filed under
SHEETS = (80.0, 60.0, 20.0, 40.0)  # what each drawer hands over: how many sheets lie in it


@dataclass(frozen=True, eq=False)
class SoftLookup:
    """The hard and the soft answer to one query over the same drawers."""

    trace: AttentionTrace  # one query, n drawers; scaled = scores / temperature
    best: int  # the drawer that a hard lookup opens: the highest score, the first of equals
    hard: Tensor  # (d_value,) what that one drawer hands over
    soft: Tensor  # (d_value,) all drawers' values, averaged with the weights


def look_up(
    query: Sequence[float] = QUERY, keys: Sequence[Sequence[float]] = KEYS, temperature: float = 1.0
) -> SoftLookup:
    """Ask the drawers hard and soft. A low temperature sharpens the blend to one drawer, a high one evens it out."""
    key = typed_numbers.matrix("Keys", keys)
    value = typed_numbers.vector("Values", SHEETS, len(key))
    typed_numbers.number("Temperature", temperature, 0.01, 100)
    trace = attend(typed_numbers.vector("Query", query, key.shape[1])[None], key, value[:, None], scale=1 / temperature)
    best = int(trace.scores[0].argmax())
    return SoftLookup(trace, best, trace.value[best], trace.context[0])
