"""Attention weights that lessons print, made up to make a point, for comparing with an encoder's own.

Source: the published lessons; where they print a word without a sentence, the sentence here is ours and says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from selfattn.encoders.encoding import Encoding
from selfattn.lessons import typed_numbers
from selfattn.words import between_groups

NEAR, KEPT = 0.1, 0.25  # a head comes near within this distance, with this much of its weight on the drawn words


@dataclass(frozen=True)
class TextbookWeights:
    """Made-up weights: a row for each word that attends, a column for each attended to. Words are numbered from 0."""

    title: str
    sentence: str
    queries: tuple[int, ...]
    keys: tuple[int, ...]
    weights: tuple[tuple[float, ...], ...]
    note: str


LOAN = "The bank approved the loan because it was well-capitalized."
TEXTBOOK = (
    TextbookWeights("bank, to deposit, the, check", "Deposit the check at the bank.", (5,), (0, 1, 2),
                    ((0.85, 0.02, 0.13),), "The sentence is ours; the source prints the three words only."),
    TextbookWeights("a map of three words", "Dog bites man.", (0, 1, 2), (0, 1, 2),
                    ((0.8, 0.1, 0.1), (0.3, 0.6, 0.1), (0.2, 0.2, 0.6)),
                    "The source names no words; the sentence is ours."),
    TextbookWeights("it, to animal, street, tired", "The animal didn't cross the street because it was too tired.",
                    (7,), (1, 5, 10), ((0.9, 0.2, 0.6),), "The source calls these scores."),
    TextbookWeights("it, to every word", "The animal didn't cross the street because it was too tired.", (7,),
                    tuple(range(11)), ((0.15, 0.9, 0.15, 0.15, 0.15, 0.2, 0.15, 0.15, 0.15, 0.15, 0.6),),
                    "The source calls these scores, and draws .15 for all other words."),
    TextbookWeights("it, because it was tired", "The animal didn't cross the street because it was tired.", (7,), (1, 5, 9),
                    ((0.9, 0.2, 0.6),), "A variant of the same sentence; the source draws no other numbers."),
    TextbookWeights("it, too wide", "The animal didn't cross the street because it was too wide.", (7,), (1, 5, 10),
                    ((0.2, 0.9, 0.6),), "The variant that turns the pronoun: the source's two nouns change places."),
    TextbookWeights("it, to the loan sentence", LOAN, (6,), (0, 1, 2, 3, 4), ((0.05, 0.82, 0.08, 0.02, 0.15),),
                    "The source calls these scores."),
)  # fmt: skip


def between_words(encoding: Encoding, textbook: TextbookWeights) -> Tensor:
    """The encoder's own weights between the textbook's words: (n_layers, n_heads, n_queries, n_keys)."""
    queries, keys = (
        [encoding.words[place].positions for place in places] for places in (textbook.queries, textbook.keys)
    )
    return torch.stack([between_groups(encoding.weights(layer), queries, keys) for layer in range(encoding.n_layers)])


def shares(weights: Tensor) -> Tensor:
    """Each row of weights (..., n) made to sum to 1; a row of zeros stays."""
    total = weights.sum(-1, keepdim=True)
    return weights / total.masked_fill(total == 0, 1.0)


def near(heads: pd.DataFrame) -> int:
    """How many heads of `compare` come near (NEAR), with at least KEPT of their weight on these words."""
    return int(((heads["distance"] < NEAR) & (heads["kept"] >= KEPT)).sum())


def compare(weights: Tensor, textbook: Sequence[Sequence[float]]) -> pd.DataFrame:
    """One row a head, nearest first: layer, head, distance, kept.

    weights (n_layers, n_heads, n_queries, n_keys) from `between_words`. distance: total variation between the textbook's
    shares and the head's, both summing to 1, mean over the rows; 0 = the same, 1 = nothing in common. kept: how much of
    the head's weight falls on these words at all. ValueError where the textbook's numbers aren't shares of anything.
    """
    printed = typed_numbers.matrix("Textbook weights", textbook)
    if bool((printed < 0).any()) or bool((printed.sum(1) == 0).any()):
        raise ValueError(
            "Textbook weights: expected rows of numbers of at least 0 with one above it. Change the others."
        )
    distance = (shares(weights) - shares(printed)).abs().sum(-1).mean(-1) / 2
    layer, head = np.indices(distance.shape).reshape(2, -1)
    kept = weights.sum(-1).mean(-1).flatten().tolist()
    frame = pd.DataFrame({"layer": layer, "head": head, "distance": distance.flatten().tolist(), "kept": kept})
    return frame.sort_values("distance", ignore_index=True)
