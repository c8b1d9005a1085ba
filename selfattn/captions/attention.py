"""Captions of two encoders: the largest difference of two heads, and how far heads are from their counterparts."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from selfattn import numbers

CELLS = {"weight": numbers.weight, "difference": numbers.change, "difference to the model's own": numbers.error}


def largest_cell(matrix: np.ndarray, labels: Sequence[str], what: str = "weight") -> str:
    """Name the cell with the largest absolute value in a map (m, m); NaN is a gap. what: one of CELLS."""
    i, j = _largest(matrix)
    return f'Largest {what}: {CELLS[what](float(matrix[i, j]))}, from "{labels[i]}" to "{labels[j]}".'


def _largest(matrix: np.ndarray) -> tuple[int, int]:
    return divmod(int(np.nanargmax(np.abs(matrix))), len(matrix))


def over_texts(frame: pd.DataFrame, chosen: str) -> str:
    """Compare two encoders head by head over many texts. frame: `senses.compare_checkpoints(...).heads` with names."""
    # One text has no interval, and a layer with one head has no others.
    frame = frame.reindex(columns=[*frame, *{"low", "high", "others"} - {*frame}])
    far, own = frame.loc[frame["distance"].idxmax()], frame[frame["name"] == chosen].iloc[0]
    low, high = numbers.weight(own["low"]), numbers.weight(own["high"])
    known = f" (95 %: {low} to {high})" if own["low"] == own["low"] else ""
    said = (
        f"Over {own['n']} sentence{'' if own['n'] == 1 else 's'}, {chosen}: {numbers.weight(own['distance'])} of the weight lies "
        f"elsewhere{known}; most in {far['name']}, {numbers.weight(far['distance'])}."
    )
    if own["others"] != own["others"]:
        return said
    same = int((frame["high"].fillna(frame["distance"]) >= frame["others"]).sum())
    return (
        f"{said} From the other heads of its layer: {numbers.weight(own['others'])}. {same} of {len(frame)} heads may be as far "
        "from their counterpart as from those: no longer the same heads."
    )


def counterparts(frame: pd.DataFrame, chosen: str) -> str:
    """Compare two encoders head by head (`distance`, 0 to 1): the chosen head, and the head that differs most."""
    far, own = frame.loc[frame["distance"].idxmax()], frame[frame["name"] == chosen].iloc[0]
    return (
        f"{chosen}: {numbers.weight(own['distance'])} of the weight lies elsewhere in the second; most in {far['name']}, "
        f"{numbers.weight(far['distance'])}. 0: the same weights; 1: nothing in common."
    )
