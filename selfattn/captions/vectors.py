"""Captions of a word's two vectors: the effect of removing each head, beside a control."""

from collections.abc import Sequence

import pandas as pd

from selfattn import numbers

# The noise of a precision below float32 in the effect of removing a head. It depends on the processor, so this is an upper
# bound: over 22 pairs, with PyTorch, oneDNN and MKL limited to several instruction sets, the largest was .0038 in bfloat16
# and .00045 in float16.
NOISE = {"bfloat16": 0.006, "float16": 0.0007}
# The noise of each column of one pair's table, as a multiple of NOISE.
OF_PAIR = {"effect": 1.0, "control": 1.0, "effect_minus_control": 2.0}
# The noise of a token's change of log probability, as a multiple of NOISE. Over 16 sentences it was at most 9. The bundled
# encoder has no language-model head, so its input embeddings took that place.
OF_LOG_PROBABILITY = 13
HINT = "Over other sentences other heads may lead."
NO_CONTROL = "No control yet, so whether this is about the meaning can't be said."


def by_head(frame: pd.DataFrame, columns: Sequence[str], chosen: str, cosine: float, vectors: str) -> str:
    """State the largest effect of removing one head on a cosine, the chosen head's effect, and the control's.

    frame: tidy_tables.heads_frame. columns: that of the effect and, with a control, that of its effect (`Measure.columns`).
    cosine: that of the two `vectors` with every head.
    """
    effect, *control = columns
    top, own = frame.loc[frame[effect].abs().idxmax()], frame[frame["name"] == chosen].iloc[0]

    def said(row: pd.Series) -> str:
        beside = f", in the control {numbers.effect(row[control[0]])}" if control else ""
        return f"{numbers.effect(row[effect])}{beside}."

    parts = [f"The two {vectors} vectors have cosine {numbers.cosine(cosine)}."]
    parts.append(f"Removed alone, at every position, {top['name']} changes it most: {said(top)}")
    if own["name"] != top["name"]:
        parts.append(f"{own['name']}: {said(own)}")
    if not control:
        return " ".join([*parts, NO_CONTROL, HINT])
    rival = frame.loc[frame[control[0]].abs().idxmax()]
    beaten = abs(top[effect]) > abs(rival[control[0]])
    parts.append(
        f"The largest of the {len(frame)} heads in the control is {rival['name']}'s, {numbers.effect(rival[control[0]])}: "
        f"{top['name']} {'exceeds it' if beaten else 'does not exceed it, so it is a hint, not a finding'}."
    )
    return " ".join([*parts, HINT])


def noise_floor(
    frame: pd.DataFrame, measure: str, precision: str, columns: dict[str, float] = OF_PAIR
) -> tuple[pd.DataFrame, str]:
    """Set effects below the precision's noise to 0; return the frame, and a sentence that counts those of `measure`.

    frame: one row per head. columns: the frame's effects, each with its noise as a multiple of NOISE. In float32 the frame is
    unchanged and the sentence empty.
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


def only_head(alone: float, before: float, head: str, word: str) -> str:
    """State the cosine of the word's two final vectors with one head as the only attention, and with all heads."""
    return (
        f'With {head} as the only attention in the whole encoder, the two final "{word}" vectors have cosine '
        f"{numbers.cosine(alone)}; with all heads {numbers.cosine(before)}."
    )
