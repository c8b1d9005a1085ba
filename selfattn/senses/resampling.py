"""Intervals by bootstrap over words, and the permutation control on the best of all heads.

Words are what is resampled, not sentences: the question is what another set of words would have given.
Sources: Efron and Tibshirani 1993, "An Introduction to the Bootstrap", chapter 13 (percentiles); Westfall and Young
1993, "Resampling-Based Multiple Testing" (the maximum over all tests); Phipson and Smyth 2010 (the 1 + in p).
"""

import numpy as np
import torch
from torch import Tensor

from selfattn.senses.centroid import centroid_cosines, score

DRAWS = 2000
SEED = 0
BLOCK = 4_000_000  # numbers held at once while labels are shuffled


def interval(per_word: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The 95 % percentile interval of the mean over words: (n_words, features) -> two (features,); NaN for one word."""
    n_words = len(per_word)
    if n_words < 2:
        return np.full(per_word.shape[1:], np.nan), np.full(per_word.shape[1:], np.nan)
    draws = np.random.default_rng(SEED).multinomial(n_words, np.full(n_words, 1 / n_words), size=DRAWS)
    low, high = np.percentile(draws / n_words @ per_word, [2.5, 97.5], axis=0)
    return low, high


def shuffled_accuracy(between: Tensor, labels: Tensor, n_senses: int, shuffles: int, seed: int) -> Tensor:
    """One word's accuracy under shuffled labels, the same shuffles for every feature: (features, shuffles).

    between (features, n, n), labels (n,).
    """
    n_features, n = between.shape[:2]
    if not n_features or not shuffles:
        return torch.zeros(n_features, shuffles, dtype=between.dtype)
    generator = np.random.default_rng(seed)
    shuffled = torch.from_numpy(generator.permuted(np.tile(labels.numpy(), (shuffles, 1)), axis=1))
    step = max(1, BLOCK // (n_features * n * n_senses))
    parts = [score(centroid_cosines(between, block, n_senses), block).mean(dim=-1) for block in shuffled.split(step)]
    return torch.cat(parts, dim=1)


def p_values(observed: np.ndarray, shuffled: np.ndarray) -> np.ndarray:
    """(1 + b) / (1 + m): in b of m shuffles the *best* head reached this head's accuracy.

    observed (heads,), shuffled (heads, m) -> (heads,). Taking the maximum over heads keeps the error over all heads.
    """
    best = shuffled.max(axis=0)
    reached = (best[None] >= observed[:, None] - 1e-12).sum(axis=1)
    return (1 + reached) / (1 + shuffled.shape[1])


def threshold(shuffled: np.ndarray, level: float = 0.05) -> float:
    """The accuracy that a head must exceed for p < level: (heads, m) -> a quantile of the maximum over heads."""
    best = np.sort(shuffled.max(axis=0))
    allowed = int(np.ceil(level * (1 + len(best)))) - 2  # shuffles that may reach it while (1 + b) / (1 + m) < level
    return float(best[len(best) - 1 - allowed]) if allowed >= 0 else 1.0
