"""Compute the noise level: the smallest share of the way (analysis/hiding.py) that is more than noise.

Hiding a word can move another word's vector away from its other senses. Such a move is no evidence, so it measures noise.
Source: Barber and Candès 2015, "Controlling the False Discovery Rate via Knockoffs" (a mirror statistic).
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from selfattn.senses.resampling import SEED, percentiles

ROWS = 300  # least number of sentences for a stable level
TOWARD = 20  # the level must be a share that at least this many sentences reach toward the other senses
CHANCE = 8  # least ratio of sentences that move toward the other senses to sentences that move away


class NoiseLevel(NamedTuple):
    """The smallest share at which a word is named, and a 95 % interval over resamples of sentences; NaN if there is none."""

    level: float
    low: float
    high: float


def noise_counts(largest: np.ndarray, smallest: np.ndarray) -> pd.DataFrame:
    """Count, for each share, the sentences that move at least this far toward the other senses, and at least this far away.

    Columns: share (.01, .02 ... to beyond the longest move), toward, away. largest, smallest: each sentence's largest and
    smallest share, (n,).
    """
    grid = _grid(largest, smallest)
    return pd.DataFrame({"share": grid, "toward": _reach(grid, largest), "away": _reach(grid, -smallest)})


def noise_level(largest: np.ndarray, smallest: np.ndarray, resamples: int) -> NoiseLevel:
    """Return the share from which on eight times as many sentences move toward the other senses as away from them.

    Only shares by which at least 20 sentences move toward the other senses are considered. largest, smallest: as in
    `noise_counts`. The interval leaves out resamples without a level. NaN for fewer than 300 sentences.
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
    """Return the number of shares at or above each value of the grid."""
    return len(shares) - np.searchsorted(np.sort(shares), grid, side="left")


def _level(grid: np.ndarray, largest: np.ndarray, smallest: np.ndarray) -> float:
    toward, away = _reach(grid, largest), _reach(grid, -smallest)
    judged = int((toward >= TOWARD).sum())  # `toward` decreases along the grid, so the shares to judge come first
    wrong = np.flatnonzero(CHANCE * away[:judged] > toward[:judged])
    first = wrong[-1] + 1 if len(wrong) else 0
    return float(grid[first]) if first < judged else np.nan
