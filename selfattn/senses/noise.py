"""The noise level: the share of the way from which a word is worth naming, measured by moves in the wrong direction.

Hiding a word also moves another away from its other senses. That can't be evidence, so its size is the yardstick: a mirror.
Source: Barber and Candès 2015, "Controlling the False Discovery Rate via Knockoffs" (a mirror statistic).
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from selfattn.senses.resampling import SEED, percentiles

STEP = 100  # the grid: .01, .02, ...
ROWS = 300  # sentences at least: with fewer the level isn't stable
TOWARD = 20  # sentences at least that a share of the grid is judged by
CHANCE = 8  # at the level and beyond, at most one sentence goes away for so many that go toward
NEAR = 0.025  # shares are about as long


class NoiseLevel(NamedTuple):
    """The share from which a word may be named, and its 95 % interval over resamples of sentences; NaN: there is none."""

    level: float
    low: float
    high: float


def noise_counts(largest: np.ndarray, smallest: np.ndarray) -> pd.DataFrame:
    """Sentences by share: toward, with a word of this share or more; away, with one of this much or more in the other direction.

    largest and smallest: each sentence's shares, (n,).
    """
    toward, away = (found[0] for found in _counts(largest[None], smallest[None]))
    return pd.DataFrame({"share": _grid(largest, smallest), "toward": toward, "away": away})


def noise_level(largest: np.ndarray, smallest: np.ndarray, resamples: int) -> NoiseLevel:
    """The smallest share from which on, wherever 20 sentences go toward, at most one goes away for eight that do.

    largest and smallest as in `noise_counts`. The interval leaves out resamples without a level. Of fewer than 300 sentences
    there is no level: NaN.
    """
    n = len(largest)
    if n < ROWS:
        return NoiseLevel(np.nan, np.nan, np.nan)
    grid = _grid(largest, smallest)
    drawn = np.random.default_rng(SEED).integers(0, n, (resamples, n))
    level, *levels = _levels(
        grid, *_counts(np.vstack([largest, largest[drawn]]), np.vstack([smallest, smallest[drawn]]))
    )
    found = np.array(levels)
    return NoiseLevel(float(level), *map(float, percentiles(found[~np.isnan(found)])))


def chance_of(share: float, shares: np.ndarray) -> float:
    """How many of the moves about this long go in the wrong direction, 0 to 1; NaN where no move is about this long.

    shares: of all words that may be named.
    """
    toward, away = (((each >= share - NEAR) & (each < share + NEAR)).sum() for each in (shares, -shares))
    return float(away / (away + toward)) if away + toward else np.nan


def _grid(largest: np.ndarray, smallest: np.ndarray) -> np.ndarray:
    """From .01 to just beyond the longest move."""
    longest = max(largest.max(initial=0), -smallest.min(initial=0))
    return np.arange(1, int(longest * STEP) + 2) / STEP


def _counts(largest: np.ndarray, smallest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """toward and away on the grid, (k, n) -> two (k, grid), of k samples of sentences."""
    grid = _grid(largest, smallest)
    reached = []
    for shares in (largest, -smallest):
        steps = np.searchsorted(grid, shares, side="right")  # how many shares of the grid each sentence reaches
        counts = np.stack([np.bincount(own, minlength=len(grid) + 1) for own in steps])
        reached.append(counts[:, :0:-1].cumsum(axis=1)[:, ::-1])
    return reached[0], reached[1]


def _levels(grid: np.ndarray, toward: np.ndarray, away: np.ndarray) -> np.ndarray:
    """The level by each sample's counts, (k, grid) -> (k,); NaN where there is none."""
    judged = toward >= TOWARD
    steps = np.arange(1, len(grid) + 1)
    first = (steps * (judged & (CHANCE * away > toward))).max(axis=1)  # after the last share where too many go away
    return np.where(first < judged.sum(axis=1), grid[np.minimum(first, len(grid) - 1)], np.nan)
