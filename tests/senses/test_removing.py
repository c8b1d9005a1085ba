"""Mean effects over pairs against single pairs and split-half reliability on known data."""

import functools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from torch.nn.functional import cosine_similarity
from transformers import AutoTokenizer, XLNetConfig, XLNetModel

from selfattn import NotRecomputable, load_encoder
from selfattn.analysis.removing import removal_effect
from selfattn.encoders.sources import resolve
from selfattn.senses import removal
from selfattn.senses.removing import split_half
from selfattn.senses.resampling import COINS, SEED, chance_count, interval

FRAME = pd.DataFrame(
    [
        ("The bank of the river.", "bank", "water"),
        ("The bank approved the loan.", "bank", "money"),
        ("Reeds grew along the bank.", "bank", "water"),
        ("She works at a bank.", "bank", "money"),
        ("The bat slept in a cave.", "bat", "animal"),
        ("He swung the bat hard.", "bat", "stick"),
        ("A bat flew past.", "bat", "animal"),
        ("The bat was made of ash.", "bat", "stick"),
    ],
    columns=["sentence", "word", "sense"],
)


@pytest.fixture(scope="module")
def report(encoder):
    return removal(encoder, FRAME)


@pytest.mark.slow
def test_the_mean_effect_equals_the_single_pairs(encoder, report):
    @functools.cache
    def without_and_with(text, word):
        encoding = encoder.encode(text)
        positions = next(each.positions for each in encoding.words if each.text.casefold() == word)
        return encoder.knock_out(text, positions).flatten(0, 1), encoding.vector(-1, positions)

    def effect(pair):
        first, second = (without_and_with(text, pair.word) for text in (pair.first, pair.second))
        without, whole = (cosine_similarity(*two, dim=-1) for two in zip(first, second))
        return (without - whole).numpy()

    assert len(report.pairs) == 2 * 6
    assert report.pairs["same_sense"].sum() == 4
    effects = {same: [] for same in (False, True)}
    for (_, same), pairs in report.pairs.groupby(["word", "same_sense"]):
        effects[same].append(np.mean([effect(pair) for pair in pairs.itertuples()], axis=0))
    assert report.heads["different"].to_numpy() == pytest.approx(np.mean(effects[False], axis=0), abs=1e-6)
    assert report.heads["same"].to_numpy() == pytest.approx(np.mean(effects[True], axis=0), abs=1e-6)
    assert np.allclose(report.heads["gap"], report.heads["different"] - report.heads["same"])
    assert (report.heads["gap_low"] <= report.heads["gap"] + 1e-12).all()


def test_two_words_are_too_few_to_call_a_ranking_reliable(report):
    assert np.isnan(report.reliability["different"])
    assert not report.reliable("different")


def test_split_half_is_one_for_words_that_agree_and_low_for_noise():
    generator = np.random.default_rng(0)
    agreed = np.arange(72) + 0.01 * generator.standard_normal((12, 72))
    assert split_half(agreed) > 0.99
    assert abs(split_half(generator.standard_normal((12, 72)))) < 0.5
    assert np.isnan(split_half(agreed[:3]))


def test_split_half_is_spearmans_correlation_stepped_up():
    per_word = np.random.default_rng(5).standard_normal((6, 20)) + np.linspace(0, 2, 20)
    generator, halves = np.random.default_rng(SEED), []
    for _ in range(50):
        order = generator.permutation(6)
        first, second = per_word[order[:3]].mean(axis=0), per_word[order[3:]].mean(axis=0)
        halves.append(spearmanr(first, second)[0])
    mean = np.mean(halves)
    assert split_half(per_word, splits=50) == pytest.approx(2 * mean / (1 + mean))


def test_chance_counts_the_intervals_of_effects_whose_signs_are_coins():
    generator = np.random.default_rng(1)
    per_word = generator.standard_normal((10, 40)) + 0.8  # nearly every interval leaves out 0
    signs = np.random.default_rng(SEED).choice([-1.0, 1.0], size=(COINS, 10, 1))[:20]
    counts = [((low > 0) | (high < 0)).sum() for low, high in (interval(per_word * coin) for coin in signs)]
    mean, most = chance_count(per_word)
    low, high = interval(per_word)
    assert 2 * most < ((low > 0) | (high < 0)).sum()
    assert abs(mean - np.mean(counts)) < 2.5 and mean < most
    # Two words: an interval is the two of them, and leaves out 0 wherever their signs agree.
    assert chance_count(np.array([[1.0], [2.0]]))[0] == pytest.approx(0.5, abs=0.15)
    assert np.isnan(chance_count(per_word[:1])).all()


def test_a_report_says_what_chance_gives(report):
    assert set(report.chance) == {"different", "same", "gap"}
    mean, most = report.chance["gap"]
    assert 0 < mean <= most <= len(report.heads)


@pytest.mark.slow
def test_heads_can_be_set_to_their_mean_instead(encoder):
    frame = FRAME.iloc[:4]
    report = removal(encoder, frame, how="mean")
    sentences = [
        [(text, [encoder.encode(text).tokens.index("bank")]) for text in (pair.first, pair.second)]
        for pair in report.pairs.itertuples()
        if pair.same_sense
    ]
    expected = np.mean([removal_effect(encoder, *two, how="mean").flatten().numpy() for two in sentences], axis=0)
    assert report.heads["same"].to_numpy() == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
def test_removal_counts_sentences_and_can_be_ended(encoder):
    seen = []

    def progress(done, total):
        seen.append((done, total))
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        removal(encoder, FRAME, progress=progress)
    assert seen == [(1, 8), (2, 8)]


def test_removal_refuses_in_words(encoder, tmp_path):
    with pytest.raises(ValueError, match="at least 2"):
        removal(encoder, FRAME, per_sense=1)
    with pytest.raises(ValueError, match="None of the 1 rows"):
        removal(encoder, FRAME.iloc[:1])
    config = XLNetConfig(vocab_size=30527, d_model=8, n_layer=1, n_head=1, d_inner=8)
    XLNetModel(config).save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(resolve().folder).save_pretrained(tmp_path)
    with pytest.raises(NotRecomputable, match="can be swapped or removed"):
        removal(load_encoder(str(tmp_path), trusted=True, device="cpu"), FRAME)
