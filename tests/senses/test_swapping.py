"""Swaps over many sentences: the plain loops (plain_swaps.py) agree, and what must hold whatever the numbers are."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import kstest

from selfattn import NotRecomputable
from selfattn.examples import labelled_sentences
from selfattn.senses import interchange, leading_heads, swapping
from selfattn.senses.sense_axis import Draws, gaps
from selfattn.senses.swapped_word import SwappedWord
from tests.senses.conftest import RIVERBANKS, tiny_table
from tests.senses.plain_swaps import PlainBert, by_gradient, exact


def word_of(encoder, frame, name):
    """One word's rows and slopes, as the report is made of them."""
    rows, _ = swapping.require_rows(encoder, frame[frame["word"] == name], per_sense=4)
    word = SwappedWord.read(encoder, name, rows)
    return word, word.joined(dict(word.slopes()))[0]


@pytest.fixture(scope="module", params=[2, pytest.param(3, marks=pytest.mark.long)], ids=["two senses", "three senses"])
def riverbank(request, encoder_of):
    """A tiny encoder and one word of it, with two senses or three."""
    return encoder_of("BERT"), tiny_table(*[*RIVERBANKS][: request.param], words=["riverbank"])


@pytest.fixture
def few_draws(monkeypatch):
    """For whatever isn't about intervals, p-values and reliability: they take most of the time."""
    monkeypatch.setattr(swapping, "RESAMPLES", 20)
    monkeypatch.setattr(swapping, "SHUFFLES", 20)


ROUNDING = 1e-7  # of cosines, effects and gaps in float32; between processors 3e-8 was measured


def assert_agree(report, plain):
    """Shares are as near as rounding leaves effect and gap, and these senses hardly differ: gaps of .006 and -.002."""
    assert report.gaps["gap"][0] == pytest.approx(plain.gap, abs=ROUNDING)
    of_gap = ROUNDING / abs(plain.gap)
    for column, expected in (("effect", plain.mean_effect), ("control", plain.mean_control), ("share", plain.share)):
        near = of_gap if column == "share" else ROUNDING
        assert report.heads[column].to_numpy() == pytest.approx(expected.flatten(), abs=near, rel=of_gap)


@pytest.mark.parametrize(
    "riverbank", [2, pytest.param(3, marks=pytest.mark.slow)], ids=["two senses", "three senses"], indirect=True
)
@pytest.mark.usefixtures("few_draws")
def test_the_plain_loops_agree_by_gradient(riverbank):
    tiny, table = riverbank
    bert = PlainBert(tiny)
    derivatives = bert.derivatives(bert.rows(table))
    senses = table["sense"].tolist()
    plain = by_gradient(derivatives, senses)
    assert_agree(report := interchange(tiny, table), plain)
    for row, expected in zip(table.index, plain.sources):
        sources = report.sources.loc[report.sources["row"] == row, "share"].to_numpy()
        of_gap = ROUNDING / abs(plain.gap)
        assert sources == pytest.approx(expected.flatten(), abs=of_gap, rel=of_gap)
    word, slopes = word_of(tiny, table, "riverbank")
    generator = np.random.default_rng(0)
    counts = swapping._resamples(word.senses)[:3]
    labels = generator.permuted(np.tile(word.senses, (3, 1)), axis=1)
    drawn = Draws.of(word.senses[None], counts), Draws.of(labels, np.ones(len(senses)))
    for draws, which in zip(drawn, ("resamples", "labels")):
        found, gap = slopes.differences(draws), gaps(draws, word.gram)
        for draw in range(3):
            rows = np.repeat(np.arange(len(senses)), counts[draw].astype(int)) if which == "resamples" else None
            names = senses if which == "resamples" else [str(label) for label in labels[draw]]
            expected = by_gradient(derivatives, names, rows, tokens=False)
            assert found[draw].numpy() == pytest.approx(expected.difference.flatten(), abs=ROUNDING)
            assert float(gap[draw]) == pytest.approx(expected.gap, abs=ROUNDING)


@pytest.mark.parametrize(
    "riverbank", [pytest.param(2, marks=pytest.mark.long), 3], ids=["two senses", "three senses"], indirect=True
)
@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
def test_the_plain_loops_agree_exactly(riverbank):
    tiny, table = riverbank
    plain, together = exact(tiny, table), exact(tiny, table, together=tiny.all_heads)
    assert_agree(report := interchange(tiny, table, how="exact"), plain)
    row = report.gaps.iloc[0]
    assert row["all_heads"] == pytest.approx(together.mean_effect[0, 0], abs=ROUNDING)
    assert row["all_heads_control"] == pytest.approx(together.mean_control[0, 0], abs=ROUNDING)


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
def test_leading_heads_are_ranked_on_one_half_and_swapped_on_the_other(riverbank):
    tiny, table = riverbank
    table = pd.concat([table, table.assign(sentence="Rain. " + table["sentence"])])
    table = table.groupby("sense").head(8).reset_index(drop=True)
    n_heads = tiny.n_layers * tiny.n_heads
    seen = []
    curve = leading_heads(
        tiny, table, (1, n_heads, 999), sets=3, progress=lambda done, total: seen.append((done, total))
    )
    assert curve["k"].tolist() == [1, n_heads] and seen[-1] == (2 * len(table), 2 * len(table))
    halves = [part for _, part in table.groupby(table.groupby("sense").cumcount() % 2)]
    first, every = [], []
    for ranked_on, swapped_on in (halves, halves[::-1]):
        heads = interchange(tiny, ranked_on).heads
        leader = tiny.all_heads[int((heads["effect"] - heads["control"]).argmax())]
        first.append(float(exact(tiny, swapped_on, together=[leader]).share[0, 0]))
        every.append(float(exact(tiny, swapped_on, together=tiny.all_heads).share[0, 0]))
    assert curve["leading"].tolist() == pytest.approx([np.mean(first), np.mean(every)], abs=1e-3)  # the gap is .002
    assert curve["random"][1] == pytest.approx(np.mean(every), abs=1e-3)  # the gap is .002
    assert curve["random_low"][0] < curve["random"][0] < curve["random_high"][0]
    assert curve["others"].isna().all(), "there is no other word"
    with pytest.raises(ValueError, match="at least 8 are needed"):
        leading_heads(tiny, table.groupby("sense").head(7))


@pytest.mark.parametrize("riverbank", [3], ids=["three senses"], indirect=True)
@pytest.mark.slow
def test_the_leading_heads_of_the_other_words_are_those_of_the_mean_over_all_of_their_rows(riverbank):
    tiny, table = riverbank[0], tiny_table(words=["bank", "river", "riverbank"])
    table = pd.concat([table, table.assign(sentence="Rain. " + table["sentence"])])
    table = table.groupby(["word", "sense"]).head(8).reset_index(drop=True)
    words = dict(iter(table.groupby("word")))
    curve = leading_heads(tiny, table, (1, 2), sets=1)
    bert, n_heads = PlainBert(tiny), tiny.n_layers * tiny.n_heads
    mean = np.zeros(n_heads)
    for word in ("bank", "river"):
        rows = words[word]
        plain = by_gradient(bert.derivatives(bert.rows(rows)), rows["sense"].tolist(), tokens=False)
        mean += plain.difference.flatten() / 2
    leading = [tiny.all_heads[head] for head in sorted(range(n_heads), key=lambda head: -mean[head])]
    halves = [half for _, half in words["riverbank"].groupby(words["riverbank"].groupby("sense").cumcount() % 2)]
    expected = [np.mean([exact(tiny, half, together=leading[:k]).share[0, 0] for half in halves]) for k in (1, 2)]
    own = curve[curve["word"] == "riverbank"]
    assert own["others"].tolist() == pytest.approx(expected, abs=1e-3)  # the gap is .002
    assert (own["others"] - own["leading"]).abs().max() > 1e-2, "its own leading heads are others"


def test_the_resamples_are_counted_in_which_the_head_that_is_named_leads():
    """The exact shares name the leader: where the gradient has another, its resamples aren't the leader's."""
    nothing = np.zeros((0, 2, 3))
    result = swapping._Result(
        word="bank", n=8, gap=1.0, effect=np.array([2.0, 1, 0]), control=np.zeros(3), exact=np.array([1.0, 3, np.nan]),
        all_heads=np.zeros(2), gap_draws=np.ones(4), draws=np.array([[2.0, 1, 0]] * 3 + [[1.0, 2, 0]]),
        shuffled=np.zeros((0, 3)), halves=nothing, shuffled_halves=nothing,
    )  # fmt: skip
    assert swapping._reliability([result, result])["leads"].tolist() == [0.25, 0.25]


@pytest.mark.slow
def test_draws_in_blocks_are_the_same(riverbank, monkeypatch):
    word, slopes = word_of(*riverbank, "riverbank")
    draws, n = Draws.of(word.senses[None], swapping._resamples(word.senses)[:9]), len(word.senses)
    whole = slopes.differences(draws)
    monkeypatch.setattr("selfattn.senses.sense_axis.BLOCK", 2 * n**3)
    monkeypatch.setattr("selfattn.senses.sense_axis.HELD", 5 * n**3)
    torch.testing.assert_close(slopes.differences(draws), whole, atol=1e-12, rtol=0)


def test_resamples_keep_three_rows_of_each_sense():
    counts = swapping._resamples(np.array([0, 0, 0, 0, 1, 1, 1, 1, 1]))
    assert counts.shape == (1000, 9)
    assert (counts[:, :4].sum(axis=1) == 4).all() and (counts[:, 4:].sum(axis=1) == 5).all()
    assert ((counts[:, :4] > 0).sum(axis=1) >= 3).all() and ((counts[:, 4:] > 0).sum(axis=1) >= 3).all()
    assert (counts == swapping._resamples(np.array([0, 0, 0, 0, 1, 1, 1, 1, 1]))).all()


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
def test_the_eight_heads_that_lead_in_a_word_and_over_all_words_are_run(riverbank):
    tiny, table = riverbank
    both = tiny_table(*table["sense"].unique())
    exactly, plain = interchange(tiny, both, how="exact"), interchange(tiny, both)
    for word, own in plain.heads.groupby("word"):
        ran = own.index[own["exact"].notna()]
        assert set(own["share"].nlargest(8).index) <= set(ran) and len(ran) < len(own)
        np.testing.assert_allclose(own["exact"][ran], exactly.heads["share"][ran], atol=1e-5)
        assert plain.leader(word).name == exactly.heads["share"][ran].idxmax()


def test_words_whose_senses_hardly_differ_say_so():
    gaps = {"gap": [0.09, 0.02, 0.05, 0.05, np.nan], "low": [0.04, 0.01, -0.01, np.nan, np.nan]}
    table = pd.DataFrame({"word": ["bank", "nail", "draw", "odd", "none"]} | gaps)
    found = swapping.SwapReport(None, None, None, table, None).small_gaps
    assert set(found) == {"nail", "draw", "none"}
    assert found["nail"] == 'The senses of "nail" lie 0.020 apart, under 0.03.'
    assert found["draw"] == 'The senses of "draw" lie 0.050 apart (95 % interval from -0.010).'


def test_what_cannot_be_asked_is_refused(encoder):
    with pytest.raises(ValueError, match='"gradient" or "exact", got \'fast\''):
        interchange(encoder, pd.DataFrame(), how="fast")
    with pytest.raises(NotRecomputable, match=r"No head of .* can be swapped or removed: a test"):
        interchange(replace(encoder, patch_reason="a test."), pd.DataFrame())


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
def test_an_encoder_that_is_shown_only_is_swapped_too(encoder_of):
    """Its sources are by the model's own weights, and add up to the effect as everywhere."""
    frame = tiny_table("water", "money", words=["bank"])
    found = interchange(encoder_of("LiLT"), frame)
    assert len(found.heads) == 12
    sums = found.sources.groupby(["layer", "head", "row"])["share"].sum().unstack()
    mean = sum(sums[rows.index].mean(axis=1) for _, rows in frame.groupby("sense")) / 2
    effects = found.heads.set_index(["layer", "head"])["effect"]
    np.testing.assert_allclose(mean, effects / found.gaps["gap"][0], atol=1e-5)
    assert effects.abs().max() > 1e-3


@pytest.mark.long
def test_under_shuffled_labels_the_smallest_p_of_a_word_is_uniform(encoder):
    """Over words and shuffles of their labels; the p of single heads, adjusted for the maximum, isn't."""
    smallest = []
    table = labelled_sentences()
    for name in ("bank", "bat", "spring"):
        word, slopes = word_of(encoder, table, name)
        ones = np.ones(len(word.senses))
        shuffles = np.random.default_rng(5).permuted(np.tile(word.senses, (1000, 1)), axis=1)
        largest = slopes.differences(Draws.of(shuffles, ones)).max(dim=1).values.numpy()
        labels = np.random.default_rng(6).permuted(np.tile(word.senses, (100, 1)), axis=1)
        for observed in slopes.differences(Draws.of(labels, ones)).max(dim=1).values.numpy():
            smallest.append((1 + (largest >= observed).sum()) / 1001)
    assert kstest(smallest, "uniform").pvalue > 0.01
