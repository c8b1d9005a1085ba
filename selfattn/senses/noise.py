"""Compute the smallest move of a word's vector toward other senses that is more than noise.

A share is a move as a fraction of the distance between the sense means.
Source: Barber and Candès 2015, "Controlling the False Discovery Rate via Knockoffs".
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from selfattn.senses.resampling import SEED, percentiles

ROWS = 300  # least number of sentences for a stable level
TOWARD = 20  # least number of sentences that move this far toward the other senses
CHANCE = 8  # least number of moves toward the other senses for each move away


class NoiseLevel(NamedTuple):
    """The length of the shortest move of a word's vector that is more than noise.

    level: the length, as a fraction of the distance between senses. low, high: its 95 % interval.
    All three are NaN if no move is more than noise.
    """

    level: float
    low: float
    high: float


def noise_counts(largest: np.ndarray, smallest: np.ndarray) -> pd.DataFrame:
    """For each share, count the sentences in which hiding some word moves the labelled word's vector at least this far.

    A share is a move as a fraction of the distance between the sense means.
    largest, smallest (n,): the extreme shares in each sentence
    toward, away: number of sentences with such a move toward, or away from, the other senses
    """
    grid = _grid(largest, smallest)
    return pd.DataFrame({"share": grid, "toward": _reach(grid, largest), "away": _reach(grid, -smallest)})


def noise_level(largest: np.ndarray, smallest: np.ndarray, resamples: int) -> NoiseLevel:
    """Return the noise level with its interval, as fractions of the distance between the sense means.

    Hiding a word moves the labelled word's vector. Of all moves at least as long as the level, at least 8 go toward the other
    senses for each move away. The same holds for every larger length. Returns NaN for fewer than 300 sentences.
    largest, smallest (n,): each sentence's largest and smallest move, as such fractions; a move away is negative
    """
    n, grid = len(largest), _grid(largest, smallest)
    if n < ROWS:
        return NoiseLevel(np.nan, np.nan, np.nan)
    drawn = np.random.default_rng(SEED).integers(0, n, (resamples, n))
    level, *levels = (_level(grid, largest[rows], smallest[rows]) for rows in (slice(None), *drawn))
    return NoiseLevel(level, *map(float, percentiles(np.array([each for each in levels if each == each]))))


def _grid(largest: np.ndarray, smallest: np.ndarray) -> np.ndarray:
    longest = max(largest.max(initial=0), -smallest.min(initial=0))
    return np.arange(1, int(longest * 100) + 2) / 100


def _reach(grid: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Count the shares at or above each value of the grid."""
    return len(shares) - np.searchsorted(np.sort(shares), grid, side="left")


def _level(grid: np.ndarray, largest: np.ndarray, smallest: np.ndarray) -> float:
    toward, away = _reach(grid, largest), _reach(grid, -smallest)
    judged = int((toward >= TOWARD).sum())  # `toward` decreases along the grid
    wrong = np.flatnonzero(CHANCE * away[:judged] > toward[:judged])
    first = wrong[-1] + 1 if len(wrong) else 0
    return float(grid[first]) if first < judged else np.nan
