"""Compute bootstrap intervals over words, and permutation p-values of heads.

Sources: Efron and Tibshirani 1993, "An Introduction to the Bootstrap", chapter 13; Westfall and Young 1993,
"Resampling-Based Multiple Testing"; Phipson and Smyth 2010 (the 1 + in p-values).
"""

import numpy as np

DRAWS = 2000
SEED = 0


def interval(per_word: np.ndarray, size: int = DRAWS) -> np.ndarray:
    """Return the 95 % interval of the mean over words: (n_words, features) -> (2, features). It is NaN if n_words is 1."""
    n_words = len(per_word)
    return percentiles(word_draws(n_words, size if n_words > 1 else 0) @ per_word)


def word_draws(n_words: int, size: int) -> np.ndarray:
    """Return `size` resamples of the words. Each is a row of weights that sum to 1: (size, n_words)."""
    return np.random.default_rng(SEED).multinomial(n_words, np.full(n_words, 1 / n_words), size=size) / n_words


def percentiles(draws: np.ndarray) -> np.ndarray:
    """Return the 2.5th and 97.5th percentiles of the draws: (size, ...) -> (2, ...)."""
    return np.percentile(draws, [2.5, 97.5], axis=0) if len(draws) else np.full((2, *draws.shape[1:]), np.nan)


def rank_correlations(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return Spearman's correlation of matching rows: (m, n) or (1, n) each -> (m,)."""
    from scipy.stats import rankdata  # a slow import that the dashboard's first page doesn't need

    ranks = [rankdata(side, axis=1) for side in (first, second)]
    centred = [side - side.mean(axis=1, keepdims=True) for side in ranks]
    unit = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in centred]
    return (unit[0] * unit[1]).sum(axis=1)


def p_values(observed: np.ndarray, shuffled: np.ndarray) -> np.ndarray:
    """Return each head's p-value, (1 + b) / (1 + m).

    b counts, of m shuffles, those in which the highest accuracy of any head is at least the head's own observed accuracy.

    observed (heads,): accuracies. shuffled (heads, m): accuracies with shuffled labels.
    """
    best = shuffled.max(axis=0)
    reached = (best[None] >= observed[:, None] - 1e-12).sum(axis=1)
    return (1 + reached) / (1 + shuffled.shape[1])


def threshold(shuffled: np.ndarray) -> float:
    """Return the accuracy that a head must exceed for p < .05. shuffled: as in `p_values`."""
    best = np.sort(shuffled.max(axis=0))
    allowed = int(np.ceil(0.05 * (1 + len(best)))) - 2  # the largest b with (1 + b) / (1 + m) < .05
    return float(best[len(best) - 1 - allowed]) if allowed >= 0 else 1.0
