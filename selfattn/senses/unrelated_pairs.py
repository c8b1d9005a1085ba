"""Measure the cosines of 1,000 pairs of unrelated sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from torch.nn.functional import normalize

from selfattn.encoders.encoder import Encoder, Progress, followed, silent
from selfattn.encoders.pooling import load_pooling

PAIRS = 1000
PASS = 32  # sentences in one batch


@dataclass(frozen=True, eq=False)
class UnrelatedPairs:
    """Pairs of sentences whose labelled words differ, and the cosine of each pair."""

    pairs: pd.DataFrame
    # first, second: index labels of the two sentences in the `frame` passed to `unrelated_pairs`
    # cosine: cosine of the sentence vectors, -1 to 1

    @cached_property
    def cosines(self) -> np.ndarray:
        """Cosines in ascending order."""
        return np.sort(self.pairs["cosine"].to_numpy(float))

    @property
    def median(self) -> float:
        """Median cosine."""
        return float(np.median(self.cosines))

    def percentile(self, cosine: float) -> float:
        """Return the fraction (0 to 1) of pairs whose cosine is below `cosine`.

        A pair with exactly this cosine counts as half a pair.
        """
        return float(np.mean(self.cosines < cosine) + np.mean(self.cosines == cosine) / 2)


def drawn_pairs(frame: pd.DataFrame) -> list[tuple]:
    """Draw 1,000 pairs of rows whose labelled words differ. The seed is fixed."""
    rng, words = np.random.default_rng(0), sorted(set(frame["word"]))
    rows = {word: group.index.to_numpy() for word, group in frame.groupby("word")}
    pairs = []
    for _ in range(PAIRS):
        first, second = rng.choice(words, 2, replace=False)
        pairs.append((rng.choice(rows[first]), rng.choice(rows[second])))
    return pairs


def unrelated_pairs(encoder: Encoder, frame: pd.DataFrame, progress: Progress = silent) -> UnrelatedPairs:
    """Measure the cosines of 1,000 random pairs of sentences whose labelled words differ.

    frame: a table with the columns sentence and word.
    progress: called as progress(done, total) after each batch.
    Raises NoPooling or TextError.
    """
    pooling, pairs = load_pooling(encoder), drawn_pairs(frame)
    wanted = sorted({row for pair in pairs for row in pair})
    vectors = {}
    for start in followed(range(0, len(wanted), PASS), progress):
        rows: Sequence = wanted[start : start + PASS]
        for row, read in zip(rows, encoder.encode_batch(frame["sentence"].loc[rows].tolist())):
            vectors[row] = normalize(read.vector(encoder.n_layers, pooling.positions(read)), dim=0)
    first, second = (torch.stack([vectors[row] for row in side]) for side in zip(*pairs))
    cosines = (first * second).sum(dim=1).tolist()
    return UnrelatedPairs(pd.DataFrame(pairs, columns=["first", "second"]).assign(cosine=cosines))
