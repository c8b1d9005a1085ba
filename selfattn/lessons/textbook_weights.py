"""Attention weights that lessons print, made up to make a point, for comparing with an encoder's own (system S19).

Source: the published lessons; where they print a word without a sentence, the sentence here is ours and says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from torch import Tensor

from selfattn.lessons import typed_numbers as inputs


@dataclass(frozen=True)
class Drawn:
    """Made-up numbers: one row a word that asks, one column a word asked. Words are named by their place, from 0."""

    title: str
    sentence: str
    asking: tuple[int, ...]
    asked: tuple[int, ...]
    numbers: tuple[tuple[float, ...], ...]
    note: str


LOAN = "The bank approved the loan because it was well-capitalized."
DRAWN = (
    Drawn("bank, to deposit, the, check", "Deposit the check at the bank.", (5,), (0, 1, 2), ((0.85, 0.02, 0.13),),
          "The sentence is ours; the source prints the three words only."),
    Drawn("a map of three words", "Dog bites man.", (0, 1, 2), (0, 1, 2),
          ((0.8, 0.1, 0.1), (0.3, 0.6, 0.1), (0.2, 0.2, 0.6)),
          "The source names no words; the sentence is ours."),
    Drawn("it, to animal, street, tired", "The animal didn't cross the street because it was too tired.", (7,),
          (1, 5, 10), ((0.9, 0.2, 0.6),), "The source calls these scores."),
    Drawn("it, to the loan sentence", LOAN, (6,), (0, 1, 2, 3, 4), ((0.05, 0.82, 0.08, 0.02, 0.15),),
          "The source calls these scores."),
)  # fmt: skip


def shares(numbers: Sequence[Sequence[float]]) -> Tensor:
    """The drawn numbers (rows, columns), each row made to sum to 1; ValueError for negative or empty rows."""
    drawn = inputs.matrix("Drawn numbers", numbers)
    if bool((drawn < 0).any()) or bool((drawn.sum(1) == 0).any()):
        raise ValueError("Drawn numbers: expected rows of numbers of at least 0 with one above it. Change the others.")
    return drawn / drawn.sum(1, keepdim=True)


def own_shares(weights: Tensor) -> Tensor:
    """The head's weights on the drawn words (..., n_asking, n_asked), each row made to sum to 1 (or 0)."""
    total = weights.sum(-1, keepdim=True)
    return weights / total.masked_fill(total == 0, 1.0)


def compare(weights: Tensor, numbers: Sequence[Sequence[float]]) -> pd.DataFrame:
    """One row a head, nearest first: layer, head, distance, kept.

    weights (n_layers, n_heads, n_asking, n_asked) from `words.between_groups`. distance: total variation between the drawn
    shares and the head's, both summing to 1, mean over the rows; 0 = alike, 1 = nothing in common. kept: how much of
    the head's weight falls on the drawn words at all.
    """
    drawn = shares(numbers)
    distance = (own_shares(weights) - drawn).abs().sum(-1).mean(-1) / 2
    kept = weights.sum(-1).mean(-1)
    n_layers, n_heads = distance.shape
    rows = [
        (layer, head, float(distance[layer, head]), float(kept[layer, head]))
        for layer in range(n_layers)
        for head in range(n_heads)
    ]
    frame = pd.DataFrame(rows, columns=["layer", "head", "distance", "kept"])
    return frame.sort_values("distance", ignore_index=True)
