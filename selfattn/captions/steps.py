"""Captions of a head's steps, from the layer's input to the head's output, and of the same head with a step changed."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd
import torch
from torch import Tensor

from selfattn import numbers
from selfattn.analysis.steps import Step

TERMS = 6  # terms of a dot product to write out


def kernel_error(largest: float, separate: float | None) -> str:
    """State how far our weights are from the model's own: on the same inputs, and in a separate eager pass (None: not known)."""
    text = f"Check: our weights equal the model's own to {numbers.error(largest)}"
    return text + (f", and to {numbers.error(separate)} in an independent run." if separate is not None else ".")


def row(rows: pd.DataFrame, word: str = "", pieces: int = 1) -> str:
    """Name the word that gets most weight in each sentence, and the one that hands over most. rows: tidy_tables.row_frame.

    pieces: the number of pieces of `word`.
    """
    parts = []
    for name, own in rows.groupby("sentence", sort=False):
        most, hands = (own.loc[own[column].idxmax()] for column in ("weight", "share"))
        then = " and" if most["place"] == hands["place"] else f", {_named(hands)}"
        weight, share = numbers.weight(most["weight"]), numbers.percent(hands["share"])
        parts.append(f"in {name} {_named(most)} gets most weight ({weight}){then} hands over most ({share})")
    hidden = rows[rows["masked"] == -math.inf]
    words = " and ".join(f"{_named(each)} in {each['sentence']}" for _, each in hidden.iterrows())
    said = f" Hidden, with score −∞ and weight 0: {words}." if words else ""
    if pieces > 1:
        said += (
            f' "{word}" has {pieces} pieces: each weight is their mean, summed over the other word\'s pieces; what a word hands '
            "over is these weights × V, as a part of the sum over all words, along it."
        )
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}.{said}"


def no_steps(reason: str) -> str:
    """Say that this head's steps are missing, because they can't be recomputed, and that the weights are the model's own."""
    return f"The steps of this head are missing: {reason} The weights are the model's own."


def _named(row: pd.Series) -> str:
    if row["chosen"]:
        return "the word itself"
    return row["text"] if row["special"] else f'"{row["text"]}"'


def step_error(steps: Mapping[str, Step]) -> str:
    """State a step's largest difference to the model's own. steps: by the sentence's name."""
    step = next(iter(steps.values()))
    if step.own is None:
        return f"{step.own_from[0].upper()}{step.own_from[1:]}."
    worst, size = (max(getattr(one, name) for one in steps.values()) for name in ("error", "size"))
    return (
        f"Largest difference to {step.own_from}: {numbers.error(worst)}; the largest number of the step is "
        f"{numbers.decimal(size)}, by absolute value."
    )


def vector_lengths(rows: Mapping[str, Tensor], what: str) -> str:
    """State the length of the word's vector (d,) in each sentence and, with two sentences, their cosine."""
    lengths = " and ".join(f"{numbers.decimal(row.norm())} in {name}" for name, row in rows.items())
    both = tuple(row.double() for row in rows.values())
    cosine = f"; the two have cosine {numbers.cosine(torch.cosine_similarity(*both, dim=0))}" if len(both) > 1 else ""
    return f"The word's own {what} has length {lengths}{cosine}."


def largest(rows: Mapping[str, Tensor], labels: Mapping[str, Sequence[str]], what: str) -> str:
    """Name the token with the largest value in each sentence. rows: (n,) by the sentence's name."""
    parts = (f"{labels[name][int(row.argmax())]} in {name} ({numbers.weight(row.max())})" for name, row in rows.items())
    return f"The largest {what}: {'; '.join(parts)}."


def hidden_tokens(rows: Mapping[str, Tensor]) -> str:
    """Count the tokens that the mask hides from the word. rows: (n,) by the sentence's name, infinite where hidden."""
    counts = {name: int(row.isinf().sum()) for name, row in rows.items()}
    parts = (f"{count or 'none'} of {len(rows[name])} tokens in {name}" for name, count in counts.items())
    return f"The mask hides {', '.join(parts)}."


def score(terms: Tensor, query: str, key: str) -> str:
    """State one score as the sum of its terms (d,), and name the three largest by absolute value."""
    first = terms.abs().argsort(descending=True)[:3]
    return (
        f"From {query} to {key} the score is {numbers.decimal(terms.sum(), 3)}. Its three largest terms, in dimensions "
        f"{', '.join(map(str, first.tolist()))}, come to {numbers.decimal(terms[first].sum(), 3)}."
    )


def score_terms(query: Tensor, key: Tensor) -> str:
    """Write out the dot product of two vectors (d,) as lines of text, the largest terms first."""
    terms = query * key
    order = terms.abs().argsort(descending=True).tolist()
    named, rest = order[:TERMS], order[TERMS:]
    lines = [f"{'dim':>4}  {'query':>8}   {'key':>8}   {'term':>8}"]
    for i in named:
        q, k, term = (numbers.decimal(vector[i], 3) for vector in (query, key, terms))
        lines.append(f"{i:>4}  {q:>8} × {k:>8} = {term:>8}")
    if rest:
        lines.append(f"the other {len(rest)} terms together{numbers.decimal(terms[rest].sum(), 3):>10}".rjust(37))
    lines.append(f"{'sum, the score =':>27} {numbers.decimal(terms.sum(), 3):>9}")
    return "\n".join(lines)


def head_output(added: Mapping[str, Tensor], stream: Mapping[str, Tensor]) -> str:
    """State the length of the vector that the head adds, and of the vector that it is added to."""
    parts = (
        f"{numbers.decimal(added[name].norm())} to a vector of length {numbers.decimal(stream[name].norm())} in {name}"
        for name in added
    )
    return f"The head adds a vector of length {' and '.join(parts)}, before the layer's norm."


def changed_row(before: Tensor, after: Tensor, entropies: tuple[float, float], cosine: float, name: str) -> str:
    """State the effect of a change on a word's row: entropy in bits, the largest weight, and the context's cosine."""
    bits = " → ".join(map(numbers.decimal, entropies))
    top = " → ".join(numbers.weight(row.max()) for row in (before, after))
    real = numbers.decimal(cosine, 3)
    return f"{name}: entropy {bits} bits, largest weight {top}. The context has cosine {real} to the real one."


def padding(n: int, extra: int, padded: float, error: float) -> str:
    """State the effect of padding on real tokens: the most weight it gets from one, and the largest change of a weight."""
    gets = f"at most {numbers.error(padded)}" if padded else "exactly 0"
    differ = f"differ from the unpadded ones by at most {numbers.error(error)}" if error else "are the unpadded ones"
    return (
        f"{n} tokens and {extra} of padding. Padding gets {gets} of any real token's weight. "
        f"The real tokens' weights {differ}."
    )
