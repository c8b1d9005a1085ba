"""Captions of a word's two vectors: what swapping or removing a head does to them, beside a control."""

from collections.abc import Sequence

import pandas as pd
from torch import Tensor

from selfattn import numbers
from selfattn.analysis.measures import MEASURES, Measure

# How far at most a precision below float32 moves the effect of removing a head: a bound, for it depends on the processor. Over 22
# pairs, with PyTorch, oneDNN and MKL held to several instruction sets, the most was .0038 in bfloat16 and .00045 in float16.
NOISE = {"bfloat16": 0.006, "float16": 0.0007}
# That noise in what is shown, by column: one pair; and swaps over a word's sentences, in units of r (measured on 16 sentences: at
# most .04).
OF_PAIR = {"effect": 1.0, "control": 1.0, "effect_minus_control": 2.0}
OF_SWAPS = 0.06
# One pair's swaps, in units of the squared distance of the unit vectors (measured on 22 pairs: at most .5).
OF_PAIR_SWAPS = 0.7
# The change of a token's log probability (measured on 16 sentences with the input embeddings for a head, which the bundled
# encoder hasn't got: at most 9).
OF_LOG_PROBABILITY = 13
HINT = "Over other sentences other heads may lead."
NO_CONTROL = "No control yet, so whether this is about the meaning can't be said."
# What is said of a head's numbers, in the order of their columns.
SWAPPED = ("A {} of the way to B", "B {} of the way to A", "A with the control's output {} of the way to B")
REMOVED = ("{}", "in the control {}")


def by_head(
    frame: pd.DataFrame, measure: Measure, columns: Sequence[str], chosen: str, cosine: float, vectors: str
) -> str:
    """What swapping or removing each head alone does to two vectors: the head that leads, the chosen one, and the control.

    frame: tidy_tables.heads_frame with these columns, `Measure.columns`: of swaps A from B, B from A and, where there is one, A
    from the control, in parts of the way; of removals the change of the cosine and, where there is one, the control's. cosine:
    of the two `vectors` with every head.
    """
    swaps = measure.unit == "share"
    phrases, size, write = (SWAPPED, float, numbers.share) if swaps else (REMOVED, abs, numbers.effect)
    parts = [f"The two {vectors} vectors have cosine {numbers.cosine(cosine)}."]
    if frame[columns[0]].isna().all():
        return f"{parts[0]} They are the same: no head can move one."
    *_, last = columns
    control = last if MEASURES[last].needs_control else ""
    leads = columns[0] if measure.name == control else measure.name
    top, own = frame.loc[frame[leads].map(size).idxmax()], frame[frame["name"] == chosen].iloc[0]

    def said(row: pd.Series) -> str:
        return ", ".join(phrase.format(write(row[column])) for phrase, column in zip(phrases, columns)) + "."

    if swaps:
        parts.append(f"Swapped alone, {top['name']} moves {'AB'[columns.index(leads)]} most: {said(top)}")
    else:
        parts.append(f"Removed alone, at every position, {top['name']} changes it most: {said(top)}")
    if own["name"] != top["name"]:
        parts.append(f"{own['name']}: {said(own)}")
    if not control:
        return " ".join([*parts, NO_CONTROL, HINT])
    rival = frame.loc[frame[control].map(size).idxmax()]
    beaten = size(top[leads]) > size(rival[control])
    parts.append(
        f"The largest of the {len(frame)} heads in the control is {rival['name']}'s, {write(rival[control])}: {top['name']} "
        f"{'exceeds it' if beaten else 'does not exceed it, so it is a hint, not a finding'}."
    )
    return " ".join([*parts, HINT])


def noise_floor(
    frame: pd.DataFrame, measure: str, precision: str, columns: dict[str, float] = OF_PAIR
) -> tuple[pd.DataFrame, str]:
    """The heads with effects under the precision's noise set to 0, and the sentence that says how many of `measure` are.

    frame: one row a head. columns: the frame's effects, each with the part or multiple of NOISE that is its noise. In float32
    the frame stays as it is and there is nothing to say.
    """
    if precision not in NOISE:
        return frame, ""
    floors = {column: part * NOISE[precision] for column, part in columns.items() if column in frame}
    shown = frame.assign(
        **{column: frame[column].where(frame[column].abs() >= floor, 0.0) for column, floor in floors.items()}
    )
    if measure not in floors:
        return shown, ""
    hidden, floor = int((shown[measure] == 0).sum()), float(f"{floors[measure]:.2g}")
    return shown, (
        f"In {precision} rounding alone moves this by up to {numbers.plain(floor)}: {hidden} of {len(frame)} heads lie "
        "under that and are drawn as 0."
    )


def by_gradient(exact: Tensor) -> str:
    """What is said of a map of swaps in which not every head was run. exact: PairSwaps.exact."""
    if exact.all() or not exact.any():
        return ""
    return (
        f"By gradient, the first order of a swap; only the {int(exact.sum())} heads that it ranks highest, in each direction or "
        "from a control, were run: the largest numbers are exact."
    )


def only_head(alone: float, before: float, head: str, word: str) -> str:
    """One head as the only attention there is: the cosine of the word's two final vectors then, and with all heads."""
    return (
        f'With {head} as the only attention in the whole encoder, the two final "{word}" vectors have cosine '
        f"{numbers.cosine(alone)}; with all heads {numbers.cosine(before)}."
    )
