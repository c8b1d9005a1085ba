"""Captions of attention maps: the largest weights and differences of one head, and a measure of all heads."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from selfattn import numbers
from selfattn.analysis.compare import SentenceComparison
from selfattn.analysis.patterns import Fit

PLACES = {"previous token": "the token before", "next token": "the token after", "itself": "the token itself"}
CELLS = {"weight": numbers.weight, "difference": numbers.change, "difference to the model's own": numbers.error}


def largest_cell(matrix: np.ndarray, labels: Sequence[str], what: str = "weight") -> str:
    """Name the cell with the largest absolute value in a map (m, m); NaN is a gap. what: one of CELLS."""
    i, j = _largest(matrix)
    return f'Largest {what}: {CELLS[what](float(matrix[i, j]))}, from "{labels[i]}" to "{labels[j]}".'


def _largest(matrix: np.ndarray) -> tuple[int, int]:
    return divmod(int(np.nanargmax(np.abs(matrix))), len(matrix))


def surest_word(frame: pd.DataFrame, name: str) -> str:
    """Name the word that gives the largest weight. frame: word, attends most to, weight; one row per word. name: the map's."""
    if frame.empty:
        return f"{name}: there is no word in this sentence."
    word, receiver, weight = frame.loc[frame["weight"].idxmax(), ["word", "attends most to", "weight"]]
    return f'{name}: of the words, "{word}" gives the largest weight, {numbers.weight(weight)} to "{receiver}".'


def hidden_weight(shares: Mapping[str, float]) -> str:
    """State each sentence's mean weight (0 to 1) on the hidden special tokens, over the rows that remain."""
    each = ", ".join(f"{numbers.share(share)} in {name}" for name, share in shares.items())
    return f"Special tokens hidden: {each} of the weight went with them. Each row was scaled up to sum to 1 again."


def weight_difference(pair: SentenceComparison) -> str:
    """Compare a head in two sentences: its largest difference, the largest in the word's row, and the weight without a match."""
    a, b = pair.matched_weight
    matched = (
        f"Words that stand in both sentences take {numbers.share(a)} of the weight in A and {numbers.share(b)} in B. "
        "The rest lies in the grey gaps."
    )
    even = " and ".join(f"{numbers.weight(even)} in {name}" for name, even in zip("AB", pair.even_weight))
    length = f"Each row sums to 1, so weights fall as 1/n: an even one would be {even}"
    a, b = pair.even_weight
    length += "." if a == b else f"; {numbers.change(a - b)} of a difference can be length alone."
    more = "A" if pair.matrix[_largest(pair.matrix)] > 0 else "B"
    row = pair.matrix[pair.chosen]
    top = int(np.nanargmax(np.abs(row)))
    return (
        f"{largest_cell(pair.matrix, pair.labels, 'difference')[:-1]}, which gets more in {more}. "
        f'"{pair.labels[pair.chosen]}" itself differs most in what it gives "{pair.labels[top]}" ({numbers.change(row[top])}). '
        f"{matched} {length}"
    )


def only_one_has(frame: pd.DataFrame, word: str) -> str:
    """List the words that only one sentence has, each with its weight from `word`. frame: tidy_tables.against_frame."""
    parts = []
    for name, side in (("A", "a"), ("B", "b")):
        rows = frame[frame["only"] == name].sort_values(side, ascending=False)
        if len(rows):
            words = ", ".join(f'"{row.text}" {numbers.weight(getattr(row, side))}' for row in rows.itertuples())
            parts.append(f"only in {name}: {words}")
    if not parts:
        return f'Both sentences have the same words; the bars say what "{word}" gives each of them.'
    return f'What "{word}" gives the words that one sentence has alone, {"; ".join(parts)}.'


def measure_by_head(frame: pd.DataFrame, measure: str, unit: str, chosen: str) -> str:
    """Name the heads with the most and the least of a measure, and the chosen head's value. unit: as in `MEASURES`."""

    def value(row: pd.Series) -> str:
        return numbers.effect(row[measure]) if unit == "effect" else f"{numbers.decimal(row[measure])} {unit}".strip()

    most, least = frame.loc[frame[measure].idxmax()], frame.loc[frame[measure].idxmin()]
    own = frame[frame["name"] == chosen].iloc[0]
    return (
        f"{measure[0].upper()}{measure[1:]}: most in {most['name']} ({value(most)}), least in {least['name']} ({value(least)}). "
        f"{own['name']} has {value(own)}. Each map is shaded up to its own largest weight."
    )


def head_profile(found: Sequence[Fit], head: str, where: str) -> str:
    """Describe a head in one sentence: the named patterns that it fits, or the two places that get most of its weight."""
    if fitting := [fit for fit in found if fit.fits]:
        parts = " and ".join(f"{fit.meaning} ({numbers.weight(fit.value)})" for fit in fitting)
        return f"{where} {head} has {parts}."
    shares = sorted((fit for fit in found if fit.name != "broad"), key=lambda fit: fit.value, reverse=True)[:2]
    first, second = (f"{numbers.share(fit.value)} to {PLACES.get(fit.name, fit.name)}" for fit in shares)
    return f"{where} {head} fits no named pattern: {first} and {second}, the rest elsewhere."
