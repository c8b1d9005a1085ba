"""Sentences computed from the data: the one-line reading beneath each picture. They never claim more than the numbers."""

from collections.abc import Sequence

import pandas as pd


def attention(frame: pd.DataFrame, word: str, head: str) -> str:
    """What a head makes a word look at, from frames.strip_frame of one or two sentences."""
    parts = [f"{_top(rows)} in {sentence}" for sentence, rows in frame.groupby("sentence", sort=False)]
    return f'In {head}, "{word}" looks most at ' + "; at ".join(parts) + "."


def _top(rows: pd.DataFrame) -> str:
    first = rows.loc[rows["weight"].idxmax()]
    words = rows[~rows["special"]]
    if not first["special"] or words.empty:
        return f"{_named(first)} ({first['weight']:.2f})"
    best = words.loc[words["weight"].idxmax()]
    return f"the special token {first['text']} ({first['weight']:.2f}) and, of the words, {_named(best)} ({best['weight']:.2f})"


def _named(row: pd.Series) -> str:
    return "itself" if row["chosen"] else f'"{row["text"]}"'


def effect(frame: pd.DataFrame, chosen: str, word: str, before: float, same_sense: float | None) -> str:
    """What removing a head does to the likeness of a word's two vectors, the chosen head beside the largest.

    frame: frames.heads_frame with `effect` and, where there is a control, `control`. before: the cosine with all heads.
    """
    largest = frame.loc[frame["effect"].abs().idxmax()]
    own = frame[frame["name"] == chosen].iloc[0]
    said = (
        f'With every head, the two "{word}" vectors are {before:.2f} alike; without {own["name"]} '
        f"{before + own['effect']:.2f}{_share(own['effect'], before)}. "
    )
    said += (
        "That is the largest effect of all heads"
        if own["name"] == largest["name"]
        else f"The largest effect is {largest['name']}'s: {before + largest['effect']:.2f}{_share(largest['effect'], before)}"
    )
    alone = abs(largest["effect"]) < 0.5 * (1 - before)
    said += ": no head does it alone." if alone else "."
    if same_sense is not None and "control" in frame:
        rival = frame.loc[frame["control"].abs().idxmax()]
        said += (
            f" Control: in two sentences of the same sense the vectors are {same_sense:.2f} alike and the largest effect is "
            f"{rival['name']}'s, {rival['control']:+.3f} beside {largest['effect']:+.3f} here."
        )
    return said


def _share(effect_: float, before: float) -> str:
    difference = 1 - before
    if difference < 1e-4:
        return ""
    return f", {abs(effect_) / difference:.0%} of the difference" + (" the other way" if effect_ < 0 else "")


def special(shares: dict[str, float], word: str) -> str:
    """How much of a word's weight the special tokens hold, a sentence each."""
    parts = " and ".join(f"{share:.2f} in {sentence}" for sentence, share in shares.items())
    return f'Special tokens hold {parts} of the weight of "{word}".'


def hidden(shares: dict[str, float]) -> str:
    """What hiding the special tokens hid: the mean weight over the rows shown, a sentence each."""
    parts = " and ".join(f"{share:.0%} of the weight in {sentence}" for sentence, share in shares.items())
    return f"Special tokens hidden: {parts} went with them, and each row was scaled up to sum to 1 again."


def parting(curve: Sequence[float], word: str, same_position: bool) -> str:
    """Where two vectors of one word part: from frames.drift_frame's main curve."""
    token, placed, last = curve[0], curve[1], curve[-1]
    layers = list(curve[2:])
    lowest = min(range(len(layers)), key=layers.__getitem__)
    said = f'As bare tokens the two "{word}" are {token:.2f} alike, with their positions {placed:.2f}'
    said += " (the same position)" if same_position else " (they stand at different positions)"
    return (
        said
        + f"; after the last layer {last:.2f}. They are furthest apart after L{lowest} ({layers[lowest]:.2f})."
        + ("" if layers == sorted(layers, reverse=True) else " The way there is not steady.")
    )


def switched_off(difference: float, same_position: bool) -> str:
    """The master switch: the largest difference between the two vectors with all attention off."""
    if difference == 0:
        return (
            "Attention off: the two vectors are the same in every layer, to the last bit. "
            "Only attention brings in the context."
        )
    if same_position:
        return f"Attention off: the two vectors differ by at most {difference:.1e} in any number."
    return (
        f"Attention off: the word stands at different positions in the two sentences, so the position's part remains: "
        f"the vectors differ by up to {difference:.2f}. The context has no part in it."
    )


def error(largest: float, separate: float | None) -> str:
    """The proof in one line."""
    said = f"Largest difference to the model's own weights: {largest:.0e}, on the same inputs"
    return said + (f"; {separate:.0e} to a separate eager pass." if separate is not None else ".")
