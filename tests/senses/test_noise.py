"""Test the noise level of the effects of hiding words.

Each effect is given as a share: the move of a word's vector toward its other senses, divided by the distance between the senses.
A move away from the other senses has a negative share.
"""

import numpy as np
import pandas as pd
import pytest
from torch.nn.functional import normalize

from selfattn import Hide
from selfattn.analysis.sense_means import last_units
from selfattn.analysis.usable_rows import require_rows
from selfattn.examples import labelled_sentences
from selfattn.senses.noise import noise_counts, noise_level
from selfattn.senses.telling_words import HiddenWordsReport
from selfattn.stored_reports import stored
from tests.senses import plain_hiding


def drawn(n=320, seed=3, shift=0.1):
    generator = np.random.default_rng(seed)
    return generator.normal(shift, 0.1, n), -np.abs(generator.normal(0.02, 0.08, n))


@pytest.mark.parametrize("shift", [0.1, 0.3])
@pytest.mark.slow
def test_noise_level_agrees_with_plain_loops(shift):
    largest, smallest = drawn(shift=shift)
    counts = noise_counts(largest, smallest)
    for share, toward, away in counts.itertuples(index=False):
        assert (toward, away) == plain_hiding.moves(largest, smallest, share)
    assert counts["share"].iloc[0] == 0.01 and counts[["toward", "away"]].iloc[-1].tolist() == [0, 0]
    found = noise_level(largest, smallest, 10)
    assert found.level == pytest.approx(plain_hiding.noise_level(largest, smallest), nan_ok=True)
    generator, levels = np.random.default_rng(0), []
    for _ in range(10):
        rows = generator.integers(0, len(largest), len(largest))
        levels.append(plain_hiding.noise_level(largest[rows], smallest[rows]))
    assert found[1:] == pytest.approx(np.nanpercentile(levels, [2.5, 97.5]))


def test_moves_away_from_other_senses_raise_noise_level():
    largest = np.concatenate([np.full(280, 0.05), np.full(40, 0.305)])
    smallest = np.concatenate([np.full(6, -0.2), np.zeros(314)])
    # At shares of .06 to .20, 6 sentences move away and 40 toward; 6 is more than 1/8 of 40.
    assert noise_level(largest, smallest, 1).level == 0.21
    smallest[5] = 0.0
    assert noise_level(largest, smallest, 1).level == 0.01  # 5 is not more than 1/8 of 40
    smallest[:3] = -0.5  # above .30, fewer than 20 sentences are left
    assert noise_level(largest, smallest, 1).level == 0.01


def test_noise_level_ignores_shares_reached_in_only_19_sentences():
    largest = np.concatenate([np.full(280, 0.05), np.full(20, 0.305)])
    smallest = np.concatenate([np.full(3, -0.2), np.zeros(297)])
    assert noise_level(largest, smallest, 1).level == 0.21
    largest[-1] = 0.05
    assert noise_level(largest, smallest, 1).level == 0.01


def test_noise_level_needs_300_sentences():
    largest, smallest = drawn(shift=0.3)
    assert not np.isnan(noise_level(largest[:300], smallest[:300], 1).level)
    assert np.isnan(noise_level(largest[:299], smallest[:299], 1)).all()
    assert np.isnan(noise_level(largest, -largest, 20)).all()  # as many negative shares as positive ones
    assert np.isnan(noise_level(np.zeros(300), np.zeros(300), 1)).all()


def test_chance_is_fraction_of_shares_that_are_negative():
    """`chance_of(x)` counts only shares whose absolute value is about x."""
    shares = np.array([0.0749, 0.0751, 0.1, 0.1249, 0.125, -0.1, -0.0751, -0.07, 0.3])
    words = pd.DataFrame({"text": ["a"] * 9 + ["!"], "share": [*shares, -0.1]})
    report = HiddenWordsReport(words, *[pd.DataFrame()] * 6, reason="")
    assert report.chance_of(0.1) == 2 / 5
    assert np.isnan(report.chance_of(0.6)) and report.chance_of(0.3) == 0


def test_stored_noise_level_is_21_percent(encoder):
    report = stored("hidden_words", encoder, labelled_sentences()).report
    assert report.level == (0.21, 0.19, 0.31)
    assert report.head_level == (0.05, 0.04, 0.05)  # with words hidden in one head at a time
    counts = report.noise.set_index("share")
    assert counts.loc[0.21].tolist() == [296, 35]
    largest = report.named.groupby(["word", "row"])["share"].max()
    assert round((largest >= report.level.level).mean(), 2) == 0.39
    assert [round(report.chance_of(share), 2) for share in (0.1, 0.21, 0.33)] == [0.33, 0.18, 0.12]


@pytest.mark.long
@pytest.mark.timeout(900)
def test_random_labels_give_high_or_no_noise_level(encoder):
    """In an earlier measurement, the level was NaN for all eight shuffles of the labels and all four random splits of senses."""
    items, _ = require_rows(encoder, labelled_sentences(), per_sense=4)
    generator, shuffled, split = np.random.default_rng(0), [], []
    for _, group in items.groupby("word"):
        units, senses = last_units(encoder, group["placed"].tolist()).numpy(), group["sense"].to_numpy(dtype=str)
        moved = [
            normalize(encoder.changed_vectors(word, hidden=hides(word)).double(), dim=1).numpy() - unit
            for word, unit in zip(group["placed"], units)
        ]
        shuffled += extremes(units, moved, range(len(units)), generator.permutation(senses))
        for sense in np.unique(senses):
            rows = np.flatnonzero(senses == sense)
            split += extremes(units, moved, rows, generator.permutation(np.arange(len(rows)) % 2))
    for found in (shuffled, split):
        level = noise_level(*np.transpose(found), 1).level
        assert np.isnan(level) or level > 0.7


def hides(word):
    return [[Hide(word.positions, other.positions)] for other in word.others if not other.is_punctuation]


def extremes(units, moved, rows, labels):
    """Return, for each sentence in `rows`, the largest and the smallest share of its hidden words.

    A word's share: how far hiding the word moves the vector toward the other label's mean (1: the distance between the means).
    """
    found = []
    for at, row in enumerate(rows):
        axis = plain_hiding.axis_without(units[list(rows)], labels.tolist(), labels[at], at)
        share = moved[row] @ axis / (axis @ axis)
        found.append((share.max(), share.min()))
    return found
