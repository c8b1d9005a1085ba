"""Captions of the similarity of two sentences: which head carries it, beside a control sentence, and what one pair can't say."""

import pandas as pd

from selfattn import numbers
from selfattn.captions.attention import measure_by_head

HINT = "One pair is a hint: over other sentences other heads may lead."
NO_CONTROL = "No control sentence yet, so we can't say whether this is about the meaning."
# What is said of the leading head, of the chosen one, and of the leading one beside the control: a head's name, its number.
SHARES = (
    "Swapped, {} moves one furthest to the other: {} of the way.", "{} moves it {}.",
    "From the control sentence {} moves A {}.",
)  # fmt: skip
EFFECTS = (
    "Without {} it changes most, by {}.", "Without {} it changes by {}.",
    "Between A and the control sentence {}'s removal changes it by {}.",
)  # fmt: skip
OVER_CONTROL = 2  # a head that moves less than this many times its control is no finding


def by_head(frame: pd.DataFrame, measure: str, unit: str, chosen: str, cosine: float) -> str:
    """A measure of two sentences: the head with most of it, the chosen one, and the control.

    frame: tidy_tables.heads_frame with `measure` and, where there is a control, "`measure`, control". unit: that of its record
    in `MEASURES`: a "share" of the way to the other sentence, an "effect" of removing on the cosine, or another.
    """
    if unit not in ("share", "effect"):
        return measure_by_head(frame, measure, unit, chosen)
    parts = [f"The two sentence vectors have cosine {numbers.cosine(cosine)}."]
    if unit == "share" and frame[measure].isna().all():
        return f"{parts[0]} They are the same: no head can move one."
    (most, other, same), write, size = (
        (SHARES, numbers.share, float) if unit == "share" else (EFFECTS, numbers.effect, abs)
    )
    top, own = frame.loc[frame[measure].map(size).idxmax()], frame[frame["name"] == chosen].iloc[0]
    parts.append(most.format(top["name"], write(top[measure])))
    if own["name"] != top["name"]:
        parts.append(other.format(own["name"], write(own[measure])))
    control = f"{measure}, control"
    if control not in frame:
        return " ".join([*parts, NO_CONTROL, HINT])
    parts.append(same.format(top["name"], write(top[control])))
    if not size(top[measure]) >= OVER_CONTROL * size(top[control]):
        parts.append("So that is not about what sets A and B apart.")
    return " ".join([*parts, HINT])
