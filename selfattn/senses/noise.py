"""The noise level: the share of the way from which a word is worth naming, measured by moves in the wrong direction.

Hiding a word also moves another away from its other senses. That can't be evidence, so its size is the yardstick: a mirror.
Source: Barber and Candès 2015, "Controlling the False Discovery Rate via Knockoffs" (a mirror statistic).
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from selfattn.senses.resampling import SEED, percentiles

ROWS = 300  # sentences at least: with fewer the level isn't stable
TOWARD = 20  # sentences at least that a share is judged by
CHANCE = 8  # sentences that go toward, at least, for each that goes away


class NoiseLevel(NamedTuple):
    """The share from which a word may be named, and its 95 % interval over resamples of sentences; NaN: there is none."""

    level: float
    low: float
    high: float


def noise_counts(largest: np.ndarray, smallest: np.ndarray) -> pd.DataFrame:
    """By share (.01, .02 ... beyond the longest move), sentences that go toward (with a word of it or more) and away (of -it).

    largest and smallest: each sentence's shares, (n,).
    """
    grid = _grid(largest, smallest)
    return pd.DataFrame({"share": grid, "toward": _reach(grid, largest), "away": _reach(grid, -smallest)})


def noise_level(largest: np.ndarray, smallest: np.ndarray, resamples: int) -> NoiseLevel:
    """The smallest share from which on, wherever 20 sentences go toward, at most one goes away for eight that do.

    largest and smallest as in `noise_counts`. The interval leaves out resamples without a level. Of fewer than 300 sentences
    there is no level: NaN.
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
    """How many of the shares reach each of the grid."""
    return len(shares) - np.searchsorted(np.sort(shares), grid, side="left")


def _level(grid: np.ndarray, largest: np.ndarray, smallest: np.ndarray) -> float:
    toward, away = _reach(grid, largest), _reach(grid, -smallest)
    judged = int((toward >= TOWARD).sum())  # the first ones
    wrong = np.flatnonzero(CHANCE * away[:judged] > toward[:judged])
    first = wrong[-1] + 1 if len(wrong) else 0
    return float(grid[first]) if first < judged else np.nan
