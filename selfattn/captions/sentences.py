"""Captions of the similarity of two sentences: which head carries it, beside a control sentence, and what one pair can't say."""

import pandas as pd

from selfattn import numbers
from selfattn.captions.attention import measure_by_head

HINT = "One pair is a hint: over other sentences other heads may lead."
NO_CONTROL = "No control sentence yet, so we can't say whether this is about the meaning."
OVER_CONTROL = 2  # a head that moves less than this many times its control is no finding


def by_head(frame: pd.DataFrame, measure: str, unit: str, chosen: str, cosine: float) -> str:
    """A measure of two sentences. unit: that of its record in `MEASURES`, a "share" of the way or an "effect"."""
    if unit not in ("share", "effect"):
        return measure_by_head(frame, measure, unit, chosen)
    return (swap if unit == "share" else removal)(frame, measure, chosen, cosine)


def swap(frame: pd.DataFrame, measure: str, chosen: str, cosine: float) -> str:
    """The head that moves one sentence's vector furthest to the other's, the chosen one, and the control.

    frame: tidy_tables.heads_frame with `measure` (a share of the way) and, where there is a control, "`measure`, control".
    """
    start = f"The two sentence vectors have cosine {numbers.cosine(cosine)}."
    if frame[measure].isna().all():
        return f"{start} They are the same: no head can move one."
    top, own = frame.loc[frame[measure].idxmax()], frame[frame["name"] == chosen].iloc[0]
    parts = [
        start,
        f"Swapped, {top['name']} moves one furthest to the other: {numbers.share(top[measure])} of the way.",
    ]
    if own["name"] != top["name"]:
        parts.append(f"{own['name']} moves it {numbers.share(own[measure])}.")
    control = f"{measure}, control"
    if control not in frame:
        return " ".join([*parts, NO_CONTROL, HINT])
    parts.append(f"From the control sentence {top['name']} moves A {numbers.share(top[control])}.")
    if not top[measure] >= OVER_CONTROL * top[control]:
        parts.append("So that is not about what sets A and B apart.")
    return " ".join([*parts, HINT])


def removal(frame: pd.DataFrame, measure: str, chosen: str, cosine: float) -> str:
    """The head whose removal changes the cosine most, the chosen one, and the control pair. frame: as in `swap`, of effects."""
    top, own = frame.loc[frame[measure].abs().idxmax()], frame[frame["name"] == chosen].iloc[0]
    parts = [
        f"The two sentence vectors have cosine {numbers.cosine(cosine)}.",
        f"Without {top['name']} it changes most, by {numbers.effect(top[measure])}.",
    ]
    if own["name"] != top["name"]:
        parts.append(f"Without {own['name']} it changes by {numbers.effect(own[measure])}.")
    control = f"{measure}, control"
    if control not in frame:
        return " ".join([*parts, NO_CONTROL, HINT])
    parts.append(
        f"Between A and the control sentence {top['name']}'s removal changes it by {numbers.effect(top[control])}."
    )
    if not abs(top[measure]) >= OVER_CONTROL * abs(top[control]):
        parts.append("So that is not about what sets A and B apart.")
    return " ".join([*parts, HINT])
