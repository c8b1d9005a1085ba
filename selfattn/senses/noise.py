"""Compute the noise level: the smallest share of the way that is more than noise, measured by moves in the wrong direction.

Hiding a word can move another word's vector away from its other senses. Such a move is no evidence, so its size measures noise.
Source: Barber and Candès 2015, "Controlling the False Discovery Rate via Knockoffs" (a mirror statistic).
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from selfattn.senses.resampling import SEED, percentiles

ROWS = 300  # least number of sentences for a stable level
TOWARD = 20  # a share is judged only if at least this many sentences move that far toward the other senses
CHANCE = 8  # for each sentence that moves away, at least this many must move toward the other senses


class NoiseLevel(NamedTuple):
    """The smallest share at which a word is named, and a 95 % interval over resamples of sentences; NaN if there is none."""

    level: float
    low: float
    high: float


def noise_counts(largest: np.ndarray, smallest: np.ndarray) -> pd.DataFrame:
    """For each share, count the sentences that move at least that far toward the other senses, and at least that far away.

    Columns: share (.01, .02 ... to beyond the longest move), toward, away. largest and smallest: each sentence's extreme
    shares, (n,).
    """
    grid = _grid(largest, smallest)
    return pd.DataFrame({"share": grid, "toward": _reach(grid, largest), "away": _reach(grid, -smallest)})


def noise_level(largest: np.ndarray, smallest: np.ndarray, resamples: int) -> NoiseLevel:
    """Return the smallest share from which at least eight sentences move toward the other senses for each that moves away.

    Only shares by which at least 20 sentences move toward are judged. largest, smallest: as in `noise_counts`. Resamples
    without a level are left out. NaN for fewer than 300 sentences.
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
    judged = int((toward >= TOWARD).sum())  # `toward` decreases along the grid, so the judged shares come first
    wrong = np.flatnonzero(CHANCE * away[:judged] > toward[:judged])
    first = wrong[-1] + 1 if len(wrong) else 0
    return float(grid[first]) if first < judged else np.nan
