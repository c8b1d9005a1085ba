"""Attention as a soft lookup: a blend of all that is filed instead of the one that fits best. Asked by "bank" in the thread.

Source: Bahdanau et al. 2015 (soft search over positions); Graves et al. 2014, "Neural Turing Machines", section 3.3.1
(content addressing with a sharpness), whose inverse is the temperature here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from selfattn.kernel import AttentionTrace, attend
from selfattn.lessons import one_head_by_hand, typed_numbers

_MADE = one_head_by_hand.compute().trace
DRAWERS = one_head_by_hand.WORDS["river"]
QUERY = tuple(_MADE.query[one_head_by_hand.BANK].tolist())  # (about money, about water): what "bank" looks for
KEYS = tuple(map(tuple, _MADE.key.tolist()))  # what each word is filed under
WATER = tuple(_MADE.value[:, 1].tolist())  # what each word hands over: how much more about water than about money


@dataclass(frozen=True, eq=False)
class SoftLookup:
    """The hard and the soft answer to one query over the same drawers."""

    trace: AttentionTrace  # one query, n drawers; scaled = scores / temperature
    best: int  # the drawer that a hard lookup opens: the highest score, the first of equals
    hard: float  # what that one drawer hands over
    soft: float  # what all hand over, by their weights


def look_up(
    query: Sequence[float] = QUERY, keys: Sequence[Sequence[float]] = KEYS, temperature: float = 1.0
) -> SoftLookup:
    """Ask the drawers hard and soft. A low temperature sharpens the blend to one drawer, a high one evens it out."""
    key = typed_numbers.matrix("Keys", keys)
    value = typed_numbers.vector("Values", WATER, len(key))
    typed_numbers.number("Temperature", temperature, 0.01, 100)
    trace = attend(typed_numbers.vector("Query", query, key.shape[1])[None], key, value[:, None], scale=1 / temperature)
    best = int(trace.scores[0].argmax())
    return SoftLookup(trace, best, WATER[best], float(trace.context[0]))
