"""Captions of the senses: each number from its own column, and the sober branch where averaging or chance does as well.

What is said of the built-in sentences stands in tests/as_shown/senses.json.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from selfattn.captions import senses as captions
from selfattn.encoders.capture import Head
from selfattn.senses import SwapReport

NAN = float("nan")


def separation(adds_low=(-0.1, -0.2, 0.02, -0.3), n_words=12, low=0.81, first=0.38, each=0.51):
    layers = pd.DataFrame(
        {"layer": ["embedding", 0, 1, 2], "accuracy": [first, 0.71, 0.93, 0.84], "low": low, "high": 0.97}
    ).assign(each_left_out=each, shuffled=0.49)
    heads = pd.DataFrame(
        {
            "layer": [0, 0, 1, 1],
            "head": [0, 1, 0, 1],
            "accuracy": [0.60, 0.62, 0.91, 0.74],
            "uniform": [0.55, 0.66, 0.79, 0.75],
            "own_value": [0.61, 0.57, 0.80, 0.76],
            "adds": [0.05, -0.04, 0.12, -0.01],
            "adds_low": adds_low,
            "adds_high": [0.2, -0.01, 0.22, 0.3],
            "p_value": [0.2, 0.04, 0.001, 0.05],
        }
    )
    words = pd.DataFrame({"word": [f"w{i}" for i in range(n_words)] * 2})
    items = pd.DataFrame({"sentence": [""] * 48})
    bag = (0.8, 0.7, 0.9)
    return SimpleNamespace(
        layers=layers, heads=heads, words=words, items=items, chance=0.5, bag=bag, threshold=0.57, shuffles=1000
    )


def test_a_start_below_shuffled_labels_has_its_reason_beside_it():
    text = captions.layers(separation(each=0.51))
    assert "Before any attention it is 38 %, less than with shuffled labels (49 %), and that shows nothing" in text
    assert "those at one position, it is 51 %: no better than guessing" in text


@pytest.mark.parametrize(("first", "each"), [(0.66, 0.64), (0.66, 0.5), (0.38, 0.62), (0.38, 0.38)])
def test_a_start_that_more_than_position_decides_has_its_numbers_only(first, each):
    text = captions.layers(separation(first=first, each=each))
    assert text.endswith(
        f"it is {first:.0%}; with one sentence of each sense left out, {each:.0%}; with shuffled labels, 49%.".replace(
            "%", " %"
        )
    )


def test_few_words_are_called_few_and_an_interval_that_is_not_known_is_left_out():
    text = captions.layers(separation(n_words=1, low=NAN))
    assert "Over 1 word and" in text and text.endswith("1 word: another choice may give quite another picture.")
    assert "93 %. Guessing" in text


def test_heads_count_who_gains_and_name_the_best_and_the_chosen():
    text = captions.heads(separation(), (0, 1))
    assert text.startswith("On 2 of 4 heads attention adds something:")
    assert (
        "chosen word by word on one half of the sentences and scored on the other. On 1 the interval lies above 0"
        in text
    )
    assert "(by chance about 0 would), on 1 below. L1 H0" in text
    best = "L1 H0 adds most, +0.12 (95 % interval +0.02 to +0.22): 0.91, equal weights 0.79, own value 0.80."
    assert best in text
    assert text.endswith("L0 H1: 0.62, equal weights 0.66, own value 0.57.")


@pytest.mark.parametrize(("adds_low", "sober"), [((-0.1, -0.2, -0.02, -0.3), True), ((0.1, 0.2, 0.02, 0.3), False)])
def test_heads_say_when_averaging_would_do(adds_low, sober):
    assert ("no better than an average over the sentence" in captions.heads(separation(adds_low), (0, 0))) == sober


def test_chance_counts_the_heads_that_beat_it():
    text = captions.chance(separation())
    assert "the best of 4 heads exceeds 0.57 once in twenty times (1,000 shuffles). 2 heads beat" in text
    assert "That does not show" in text


def test_sentences_count_whole_points_and_ties():
    assert (
        captions.sentences(pd.DataFrame({"score": [1, 1, 0, 0.5]}), "L3 H7")
        == "L3 H7 gets the sense right in 2 of 4 sentences; 1 is a tie."
    )
    assert captions.sentences(pd.DataFrame({"score": [1, 0]}), "L3 H7").endswith("1 of 2 sentences.")


def swapped(leads=0.992, halves=0.93, brown=0.96, share=0.13, low=0.08, exact=None):
    heads = pd.DataFrame(
        {
            "word": ["bank"] * 2 + ["seal"] * 2 + ["all"] * 2,
            "layer": [0, 5] * 3,
            "head": [3, 10] * 3,
            "share": [0.02, 0.14, 0.3, -0.1, share, 0.05],
            "low": [-0.01, 0.05, 0.2, -0.2, low, 0.01],
            "high": [0.05, 0.22, 0.4, 0.0, 0.18, 0.09],
            "p_value": [0.4, 0.002, 1 / 1001, 1.0, 1 / 1001, 0.03],
            "effect": [0.003, 0.0124, 0.02, -0.01, 0.014, 0.01],
            "control": [0.001, -0.0012, 0.01, 0.0, -0.002, 0.001],
        }
    )
    heads["exact"] = exact or heads["share"]
    gaps = pd.DataFrame(
        {"word": ["bank", "seal", "all"], "gap": [0.08, 0.1, 0.2], "low": 0.01, "high": 0.3,
         "all_heads": [0.09, 0.1, 0.21], "all_heads_control": [-0.004, 0.0, -0.01]}
    )  # fmt: skip
    reliability = pd.DataFrame(
        {"word": ["bank", "seal", "all"], "n": [24, 24, 2], "halves": [0.56, NAN, halves], "shuffled": [-0.01, NAN, 0.04],
         "spearman_brown": [0.72, 0.81, brown], "leads": [0.92, NAN, leads], "own": NAN}
    )  # fmt: skip
    return SwapReport(heads, None, reliability, gaps, None)


def test_swaps_over_all_words_say_how_often_the_leader_leads_and_what_follows():
    text = captions.swaps(swapped())
    assert "95 % interval 8 to 18 %, p at most 0.001). It leads in 99 % of resamples of the words. The interval" in text
    assert "The interval is of this head, not of the largest of 2; p is against the largest of them." in text
    assert text.endswith(
        "All 2 heads at once: 110 %. So the sense comes in by many heads, and no single one is its place."
    )
    assert "in 70 % of resamples of the words: with other words another head might." in captions.swaps(swapped(0.7))
    assert "by this head above all." in captions.swaps(swapped(share=0.6))


def test_swaps_in_a_word_have_effect_and_control_and_the_chosen_head():
    text = captions.swaps_in_word(swapped(), "bank", (0, 3))
    assert (
        "It leads in 92 % of resamples of the sentences: with other sentences another head might. The interval" in text
    )
    assert "moves the word +0.012; from the same sense, the control, −0.001. All 2 heads at once: 118 %. Each p" in text
    assert text.endswith("to browse all 2 is to look 2 times. L0 H3: 2 % (95 % interval −1 to 5 %, p = 0.400).")
    assert captions.swaps_in_word(swapped(), "bank", (5, 10)).endswith("to browse all 2 is to look 2 times.")


def test_a_report_of_one_word_has_nothing_to_browse():
    report = swapped()
    one = replace(report, gaps=report.gaps[report.gaps["word"] == "bank"])
    assert captions.swaps_in_word(one, "bank", (5, 10)).endswith("All 2 heads at once: 118 %.")


def test_no_p_is_said_to_be_smaller_than_the_shuffles_allow():
    report = swapped()
    for p, said in ((1 / 1001, "p at most 0.001)"), (0.000999001, "p at most 0.001)"), (2 / 1001, "p = 0.002)")):
        report.heads["p_value"] = p
        assert said in captions.swaps(report), p


def test_the_head_that_is_named_leads_exactly_whatever_the_gradient_says():
    report = swapped(exact=[0.21, 0.12, NAN, 0.2, 0.12, NAN])
    text = captions.swaps_in_word(report, "bank", (5, 10))
    assert (
        'In "bank" head 3 of layer 0 brings in most, 21 % of the gap (by gradient 2 %, 95 % interval −1 to 5 %' in text
    )
    assert text.endswith("L5 H10: 12 % (by gradient 14 %, 95 % interval 5 to 22 %, p = 0.002).")
    text = captions.swaps_in_word(report, "seal", (0, 3))
    assert 'In "seal" head 10 of layer 5 brings in most, 20 %' in text
    assert text.endswith("L0 H3: 30 % by gradient (95 % interval 20 to 40 %, p at most 0.001).")
    assert "head 3 of layer 0 brings in most, 12 % of the gap between the senses (by gradient 13 %" in captions.swaps(
        report
    )


@pytest.mark.parametrize(
    ("halves", "brown", "end"),
    [
        (0.93, 0.96, "with shuffled labels 0.04); for all of them that makes 0.96 (Spearman-Brown)."),
        (0.5, 0.67, "with shuffled labels 0.04); for all of them that makes 0.67 (Spearman-Brown)."),
        (-0.2, NAN, "with shuffled labels 0.04)."),
    ],
)
def test_a_ranking_stands_beside_shuffled_labels(halves, brown, end):
    text = captions.ranking(swapped(halves=halves, brown=brown), "all")
    start = f"Two halves of the words agree on the ranking of the heads at {captions.numbers.decimal(halves)} ("
    assert text.startswith(start) and text.endswith(end)


def test_what_is_not_known_of_a_ranking_is_said():
    assert "it takes six sentences of each sense" in captions.ranking(swapped(), "seal")
    assert "it takes four words" in captions.ranking(swapped(halves=NAN), "all")


def test_the_words_whose_leading_head_leads_in_nearly_all_resamples_are_counted_and_named():
    report = swapped()
    for leads, end in (([0.92, 0.95, 1.0], "1 of 2 words: seal."), ([0.92, NAN, 1.0], "0 of 2 words.")):
        report.reliability["leads"] = leads
        assert (
            captions.leaders(report) == f"Word by word, the leading head leads in 95 % of resamples and more in {end}"
        )


WORDS_APART = {"bank": -0.1, "bat": 0.1}


def curve(leading, random, others=(0.09, 0.31, 0.5)):
    """Two words whose shares lie .1 to either side; by the heads of the other words there is no such difference."""
    of = {"k": [1, 3, 8], "others": others}
    both = [
        (word, {"leading": np.add(leading, off), "random": np.add(random, off)}) for word, off in WORDS_APART.items()
    ]
    return pd.concat([pd.DataFrame({"word": word, **of, **shares}) for word, shares in both])


def test_leading_heads_together_stand_beside_random_ones():
    text = captions.together(curve([0.1, 0.3, 0.55], [0.01, 0.04, 0.11]))
    assert text.startswith(
        "Mean over 2 words, each set swapped at once, exactly, effect minus control: the 3 leading heads of a word bring in 30 % "
        "of the gap, 3 random ones 4 %. So a leading set beats random sets, on "
        "sentences that it wasn't ranked on. The line across is the whole gap, 100 %."
    )
    text = captions.together(curve([0.1, 0.02, 0.3], [0.01, 0.04, 0.11]))
    assert "At 3 the leading heads do no better than random ones. The" in text


def test_the_leading_heads_of_the_other_words_say_whose_the_leading_set_is():
    shares = curve([0.1, 0.3, 0.55], [0.01, 0.04, 0.11])
    apart = curve([0.1, 0.3, 0.55], [0.01, 0.04, 0.11], others=(0.1, 0.15, 0.2))
    for found, mostly, theirs, by, bounds in (
        (shares, "isn't", 31, "−1", "−11 to 9"),
        (apart, "is", 15, "15", "5 to 25"),
    ):
        assert captions.together(found).endswith(
            f"Most of that {mostly} the word's own: the 3 leading heads of the other words, ranked on more sentences, bring in "
            f"{theirs} % (own minus theirs {by} %, 95 % interval over words {bounds} %)."
        )
    one = shares[shares["word"] == "bank"].assign(others=NAN)
    assert captions.together(one).endswith("The line across is the whole gap, 100 %.")


def test_sources_name_the_token_and_say_what_a_later_position_holds():
    table = pd.DataFrame({"text": ["[CLS]", "river", "."], "share": [-0.01, 0.09, 0.02]})
    text = captions.sources(table, "bank", Head(0, 10))
    assert text.startswith('In this sentence L0 H10 moves "bank" 10 % of the gap')
    assert text.endswith('Most of it comes from "river": 9 %.')
    assert captions.sources(table, "bank", Head(5, 10)).endswith("a position has itself taken in its context.")
