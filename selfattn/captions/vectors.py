"""Captions of a word's two vectors: their cosine without a head, and with one head alone."""

import pandas as pd
from torch import Tensor

from selfattn import numbers

# How far at most a precision below float32 moves the effect of removing a head: a bound, for it depends on the processor. Over 22
# pairs, with PyTorch, oneDNN and MKL held to several instruction sets, the most was .0038 in bfloat16 and .00045 in float16.
NOISE = {"bfloat16": 0.006, "float16": 0.0007}
# That noise in what is shown, by column: one pair; the mean over pairs of several words (measured over four words: at most .2);
# and swaps over a word's sentences, in units of r (measured on 16 sentences: at most .04).
OF_PAIR = {"effect": 1.0, "control": 1.0, "effect_minus_control": 2.0}
OF_MEANS = {"different": 0.3, "same": 0.3, "gap": 0.3}
OF_SWAPS = 0.06
# One pair's swaps, in units of the squared distance of the unit vectors (measured on 22 pairs: at most .5).
OF_PAIR_SWAPS = 0.7
# The change of a token's log probability (measured on 16 sentences with the input embeddings for a head, which the bundled
# encoder hasn't got: at most 9).
OF_LOG_PROBABILITY = 13
HINT = 2  # an effect under this many times its control's is no finding


def removal(frame: pd.DataFrame, chosen: str, word: str, before: float, same_sense: float | None) -> str:
    """What removing a head does to the cosine of a word's two vectors: the chosen head, the largest effect, the control.

    frame: tidy_tables.heads_frame with `effect` and, where there is a control, `control`. before: the cosine with all heads.
    same_sense: that of the control pair.
    """
    own, largest = frame[frame["name"] == chosen].iloc[0], frame.loc[frame["effect"].abs().idxmax()]
    parts = [f'The two "{word}" vectors have cosine {numbers.cosine(before)}.']
    parts.append(f"Without head {own['head']} of layer {own['layer']} it is {_after(own['effect'], before)}.")
    if own["name"] == largest["name"]:
        parts.append("That is the largest effect of all heads.")
    else:
        parts.append(
            f"The largest effect is {largest['name']}'s: without it the cosine is {_after(largest['effect'], before)}."
        )
    if abs(largest["effect"]) < 0.5 * (1 - before):
        parts.append("No head does it alone.")
    if same_sense is not None and "control" in frame:
        rival = frame.loc[frame["control"].abs().idxmax()]
        parts.append(
            f"In the control pair, where the sense is the same (cosine {numbers.cosine(same_sense)}), the largest effect is "
            f"{rival['name']}'s, {numbers.effect(rival['control'])}; here it is {numbers.effect(largest['effect'])}."
        )
        if abs(largest["effect"]) < HINT * abs(rival["control"]):
            parts.append("So the effect here is a hint, not a finding.")
    return " ".join(parts)


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
        f"By gradient, the first order of a swap; only the {int(exact.sum())} heads that it ranks highest were run, so the first "
        "one's number is exact."
    )


def _after(effect: float, before: float) -> str:
    gap = 1 - before
    if gap < 1e-4:
        return numbers.cosine(before + effect)
    if effect == 0:
        return f"{numbers.cosine(before)} as well, as far as can be told"
    share = numbers.share(abs(effect) / gap)
    moved = f"their difference grows by {share}" if effect < 0 else f"{share} of their difference is gone"
    return f"{numbers.cosine(before + effect)}: {moved}"


def only_head(alone: float, before: float, head: str, word: str) -> str:
    """One head as the only attention there is: the cosine of the word's two final vectors then, and with all heads."""
    return (
        f'With {head} as the only attention in the whole encoder, the two final "{word}" vectors have cosine '
        f"{numbers.cosine(alone)}; with all heads {numbers.cosine(before)}."
    )
