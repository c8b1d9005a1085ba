"""Compute the noise level: how far hiding a word must move a target word toward its other senses, to be more than noise.

A move is measured as a share of the distance between the means of the senses. Hiding a word that gives the target its sense
moves the target's vector toward the other senses. A move away from them is no evidence about the sense: its size is noise.
Source: Barber and Candès 2015, "Controlling the False Discovery Rate via Knockoffs" (a mirror statistic).
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from selfattn.senses.resampling import SEED, percentiles

ROWS = 300  # least number of sentences for a stable level
TOWARD = 20  # the level must be a share by which at least this many sentences move toward the other senses
CHANCE = 8  # for one sentence that moves away from the other senses, at least this many must move toward them


class NoiseLevel(NamedTuple):
    """The smallest share that is more than noise, with its 95 % interval over resamples of sentences.

    Findings mention only words whose share reaches the level. All numbers are NaN if no share is more than noise.
    """

    level: float
    low: float
    high: float


def noise_counts(largest: np.ndarray, smallest: np.ndarray) -> pd.DataFrame:
    """For each share, count the sentences in which hiding some word moves the target at least this far.

    Columns: share (.01, .02 ... to beyond the longest move), toward (sentences with such a move toward the other senses), away
    (with such a move away from them). largest, smallest: the largest and smallest share in each of n sentences, (n,).
    """
    grid = _grid(largest, smallest)
    return pd.DataFrame({"share": grid, "toward": _reach(grid, largest), "away": _reach(grid, -smallest)})


def noise_level(largest: np.ndarray, smallest: np.ndarray, resamples: int) -> NoiseLevel:
    """Return the smallest share beyond which moves toward the other senses are at least eight times as frequent as moves away.

    Sentences are counted as by `noise_counts`; largest, smallest: as there. A share counts only if hiding a word moves the
    target that far toward the other senses in at least 20 sentences. The interval leaves out resamples without such a share.
    NaN for fewer than 300 sentences.
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
    judged = int((toward >= TOWARD).sum())  # `toward` decreases along the grid, so the shares to consider come first
    wrong = np.flatnonzero(CHANCE * away[:judged] > toward[:judged])
    first = wrong[-1] + 1 if len(wrong) else 0
    return float(grid[first]) if first < judged else np.nan
