"""Sentences computed from the data for the pages about one head and about all heads. They claim no more than the numbers."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd
import torch
from torch import Tensor

from selfattn.analysis.compare import SentenceComparison
from selfattn.analysis.patterns import Fit
from selfattn.analysis.steps import Step


def error(steps: Mapping[str, Step]) -> str:
    """A step's largest difference to the model's own, over the sentences followed (name of the sentence: step)."""
    step = next(iter(steps.values()))
    if step.own is None:
        return f"{step.own_from[0].upper()}{step.own_from[1:]}."
    worst = max(held.error for held in steps.values())
    size = max(held.size for held in steps.values())
    return f"Largest difference to {step.own_from}: {worst:.0e}; the largest number of the step is {size:.3g}, by absolute value."


def vector(rows: Mapping[str, Tensor], what: str) -> str:
    """A vector of the word in one or two sentences: its length, and how alike the two are."""
    lengths = " and ".join(f"{float(row.norm()):.2f} in {name}" for name, row in rows.items())
    return f"The word's own {what} has length {lengths}" + (
        f"; the two are {_cosine(*rows.values()):.2f} alike." if len(rows) > 1 else "."
    )


def largest(rows: Mapping[str, Tensor], labels: Mapping[str, Sequence[str]], what: str) -> str:
    """Which token gets the most in each sentence."""
    parts = []
    for name, row in rows.items():
        place = int(row.argmax())
        parts.append(f"{labels[name][place]} in {name} ({_number(float(row[place]))})")
    return f"The largest {what}: {'; '.join(parts)}."


def hidden_count(rows: Mapping[str, Tensor]) -> str:
    """How many tokens the mask hides from the word."""
    parts = []
    for name, row in rows.items():
        count = int(row.isinf().sum())
        parts.append(f"{count} of {len(row)} tokens are hidden in {name}" if count else f"nothing is hidden in {name}")
    said = "; ".join(parts)
    return f"{said[0].upper()}{said[1:]}."


def dot_product(terms: Tensor, query: str, key: str) -> str:
    """One score as the sum of its terms, the largest by absolute value first; the small ones in one."""
    order = terms.abs().argsort(descending=True)
    first = order[:3]
    share = float(terms[first].sum())
    return (
        f"From {query} to {key}: the score is {float(terms.sum()):.3f}; its three largest terms, in dimensions "
        f"{', '.join(str(int(i)) for i in first)}, come to {share:.3f}."
    )


def written_out(query: Tensor, key: Tensor, most: int = 6) -> str:
    """The dot product of two vectors (d,) term by term, the largest terms first, as lines of text."""
    terms = query * key
    order = terms.abs().argsort(descending=True).tolist()
    lines = [f"{'dim':>4}  {'query':>8}   {'key':>8}   {'term':>8}"]
    lines += [
        f"{i:>4}  {float(query[i]):>8.3f} × {float(key[i]):>8.3f} = {float(terms[i]):>8.3f}" for i in order[:most]
    ]
    rest = order[most:]
    if rest:
        lines.append(f"the other {len(rest)} terms together{float(terms[rest].sum()):>10.3f}".rjust(37))
    lines.append(f"{'sum, the score =':>27} {float(terms.sum()):>9.3f}")
    return "\n".join(lines)


def total(maxima: Mapping[str, float], totals: Mapping[str, float]) -> str:
    """The two numbers of softmax that belong to a whole row."""
    parts = [f"{name}: maximum {maxima[name]:.3f}, sum of the powers {totals[name]:.3f}" for name in totals]
    return "; ".join(parts) + "."


def output(added: Mapping[str, Tensor], stream: Mapping[str, Tensor]) -> str:
    """What the head adds, beside the length of what it is added to."""
    parts = [
        f"{float(added[name].norm()):.2f} to a vector of length {float(stream[name].norm()):.2f} in {name}"
        for name in added
    ]
    return f"The head adds a vector of length {' and '.join(parts)}, before the layer's norm."


def change(before: Tensor, after: Tensor, entropies: tuple[float, float], cosine: float, name: str) -> str:
    """What a change did to a word's row: entropy, the largest weight, and the context vector."""
    return (
        f"{name}: entropy {entropies[0]:.2f} -> {entropies[1]:.2f} bits, largest weight {float(before.max()):.2f} -> "
        f"{float(after.max()):.2f}; the context vector's cosine to the real one is {cosine:.3f}."
    )


def alone(alike_alone: float, alike: float, head: str, word: str) -> str:
    """What is left of the difference between the two vectors with one head as the only attention."""
    return (
        f'With {head} as the only attention in the whole encoder, the two final "{word}" vectors are {alike_alone:.2f} alike; '
        f"with all heads {alike:.2f}."
    )


def masking(weights: Tensor, leaked: float) -> str:
    """One way of masking: what the row sums to and what still falls on hidden tokens."""
    return f"The row sums to {float(weights.sum()):.2f}; {leaked:.2f} of it falls on hidden tokens."


def padding(n: int, extra: int, padded: float, error_: float) -> str:
    """What padding does to the real tokens' weights."""
    return (
        f"{n} tokens and {extra} of padding. Padding gets {padded:.0e} of any real token's weight"
        f" and the real tokens' weights differ from the unpadded ones by at most {error_:.0e}."
    ).replace("gets 0e+00 of", "gets exactly 0 of")


def difference(found: SentenceComparison) -> str:
    """The largest difference of the map, and how much of the weight has a match."""
    finite = [
        (i, j) for i in range(len(found.labels)) for j in range(len(found.labels)) if not math.isnan(found.matrix[i, j])
    ]
    i, j = max(finite, key=lambda place: abs(found.matrix[place]))
    value = found.matrix[i, j]
    row = {k: found.matrix[found.chosen, k] for _, k in finite}
    top = max(row, key=lambda k: abs(row[k]))
    a, b = found.matched_weight
    return (
        f'Largest difference: {value:+.2f}, from "{found.labels[i]}" to "{found.labels[j]}" '
        f"(more in {'A' if value > 0 else 'B'}). "
        f'"{found.labels[found.chosen]}" itself differs most in what it gives "{found.labels[top]}" ({row[top]:+.2f}). '
        f"Words in both sentences hold {a:.0%} of the weight in A and {b:.0%} in B; the rest lies in the grey gaps."
    )


def grid(frame: pd.DataFrame, measure: str, unit: str, chosen: str) -> str:
    """The head with the most and the least of a measure, and the chosen one."""
    most, least = frame.loc[frame[measure].idxmax()], frame.loc[frame[measure].idxmin()]
    own = frame[frame["name"] == chosen].iloc[0]
    return (
        f"{measure[0].upper()}{measure[1:]}: most in {most['name']} ({_unit(most[measure], unit)}), least in {least['name']} "
        f"({_unit(least[measure], unit)}); {own['name']} has {_unit(own[measure], unit)}. "
        "Each map is shaded up to its own largest weight."
    )


def pattern(found: Sequence[Fit], head: str) -> str:
    """The named patterns that a head fits, or the nearest one and what it lacks."""
    fitting = [fit for fit in found if fit.fits]
    if fitting:
        parts = "; ".join(f"{fit.name} ({fit.value:.2f}, the threshold is {fit.threshold:.2f})" for fit in fitting)
        return f"In this sentence {head} fits a named pattern: {parts}."
    near = found[0]
    return f"{head} fits no named pattern here. The nearest is {near.name}: {near.value:.2f} where {near.threshold:.2f} is asked."


def lines(frame: pd.DataFrame, word: str, cut: float) -> str:
    """What each source makes a word look at most, and how much weight is in lines too thin to draw."""
    parts = []
    for source, rows in frame.groupby("source", sort=False):
        first = rows.loc[rows["weight"].idxmax()]
        parts.append(f'{source}: "{first["text"]}" ({first["weight"]:.2f})')
    said = f'"{word}" looks most at, in ' + "; ".join(parts) + "."
    return said + (f" Words with less than {cut:.3f} have no line." if cut else "")


def opinions(frame: pd.DataFrame, agreement: pd.DataFrame, methods: Sequence[str]) -> str:
    """The rank correlations, and the word on which the methods disagree most."""
    parts = [
        f"{row.first_} and {row.second} {row.correlation:+.2f}"
        for row in agreement.rename(columns={"first": "first_"}).itertuples()
        if not math.isnan(row.correlation)
    ]
    little = " (so few words say little)" if len(frame) < 10 else ""
    said = f"Rank correlation over {len(frame)} words{little}: {', '.join(parts)}. " if parts else ""
    firsts = {method: frame.loc[frame[f"{method} rank"].idxmin(), "word"] for method in methods}
    if len(set(firsts.values())) == 1:
        said += f'All put "{next(iter(firsts.values()))}" first. '
    else:
        said += "First for " + ", ".join(f'{method}: "{word}"' for method, word in firsts.items()) + ". "
    columns = [f"{method} rank" for method in methods]
    spread = frame[columns].max(axis=1) - frame[columns].min(axis=1)
    worst = frame.loc[spread.idxmax()]
    if spread.max() > 0:
        high, low = worst[columns].astype(float).idxmin(), worst[columns].astype(float).idxmax()
        said += (
            f'They disagree most on "{worst["word"]}": {high} {worst[high]:g}, {low} {worst[low]:g} of {len(frame)}.'
        )
    return said


def _unit(value: float, unit: str) -> str:
    return f"{value:+.3f}" if unit == "signed" else f"{value:.2f}{' ' + unit if unit else ''}"


def _number(value: float) -> str:
    return f"{value:.2f}" if abs(value) >= 0.005 else f"{value:.1e}"


def _cosine(first: Tensor, second: Tensor) -> float:
    return float(torch.cosine_similarity(first.double(), second.double(), dim=0))
