"""Captions of the senses: each number from its own column, and the sober branch where averaging or chance does as well."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from selfattn.captions import senses as captions

NAN = float("nan")


def separation(adds_low=(-0.1, -0.2, 0.02, -0.3), n_words=12, low=0.81):
    layers = pd.DataFrame(
        {"layer": ["embedding", 0, 1, 2], "accuracy": [0.38, 0.71, 0.93, 0.84], "low": low, "high": 0.97}
    )
    heads = pd.DataFrame(
        {
            "layer": [0, 0, 1, 1],
            "head": [0, 1, 0, 1],
            "accuracy": [0.60, 0.62, 0.91, 0.74],
            "uniform": [0.55, 0.66, 0.79, 0.75],
            "own_value": [0.61, 0.57, 0.80, 0.76],
            "adds": [0.05, -0.04, 0.12, -0.01],
            "adds_low": adds_low,
            "adds_high": [0.2, 0.05, 0.22, 0.3],
            "p_value": [0.2, 0.04, 0.001, 0.05],
        }
    )
    words = pd.DataFrame({"word": [f"w{i}" for i in range(n_words)] * 2})
    items = pd.DataFrame({"sentence": [""] * 48})
    bag = (0.8, 0.7, 0.9)
    return SimpleNamespace(
        layers=layers, heads=heads, words=words, items=items, chance=0.5, bag=bag, threshold=0.57, shuffles=1000
    )


def test_layers_say_the_first_the_next_and_the_best():
    text = captions.layers(separation())
    assert text.startswith("Over 12 words and 48 sentences")
    assert "in 38 % of cases before any attention (from its position alone) and in 71 % after layer 0" in text
    assert "Best after layer 1: 93 % (95 % interval over words 81 to 97 %)." in text
    assert "Guessing gives 50 %;" in text and "token vectors gives 80 %" in text
    assert "quite another picture" not in text


def test_few_words_are_called_few_and_an_interval_that_is_not_known_is_left_out():
    text = captions.layers(separation(n_words=1, low=NAN))
    assert "Over 1 word and" in text and text.endswith("1 word: another choice may give quite another picture.")
    assert "93 %. Guessing" in text


def test_heads_count_who_gains_and_name_the_best_and_the_chosen():
    text = captions.heads(separation(), (0, 1))
    assert text.startswith(
        "On 2 of 4 heads the head's own weights separate the senses better than equal weights; on 1 "
    )
    assert "L1 H0 gains most: 0.91 against 0.79 with equal weights (+0.12, 95 % interval +0.02 to +0.22)." in text
    assert "On 2 heads the word's own value alone does as well or better." in text
    assert text.endswith("L0 H1: 0.62, equal weights 0.66, own value 0.57.")


@pytest.mark.parametrize(("adds_low", "sober"), [((-0.1, -0.2, -0.02, -0.3), True), ((0.1, 0.2, 0.02, 0.3), False)])
def test_heads_say_when_averaging_would_do(adds_low, sober):
    assert ("averaging the sentence would do as well" in captions.heads(separation(adds_low), (0, 0))) == sober


def test_chance_counts_the_heads_that_beat_it():
    text = captions.chance(separation())
    assert "the best of 4 heads exceeds 0.57 once in twenty times (1,000 shuffles). 2 heads beat" in text
    assert "That does not show" in text


def test_the_first_and_the_last_of_the_words():
    frame = pd.DataFrame({"word": ["spring", "seal", "bat"], "accuracy": [0.95, 0.7, 0.41]})
    assert captions.words(frame) == "Separated best after the last layer: spring (0.95); worst: bat (0.41)."


def test_sentences_count_whole_points_and_ties():
    assert (
        captions.sentences(pd.DataFrame({"score": [1, 1, 0, 0.5]}), "L3 H7")
        == "L3 H7 gets the sense right in 2 of 4 sentences; 1 is a tie."
    )
    assert captions.sentences(pd.DataFrame({"score": [1, 0]}), "L3 H7").endswith("1 of 2 sentences.")


def removed(reliability):
    heads = pd.DataFrame({"layer": [0, 0, 1], "head": [0, 1, 0]})
    for kind, values in (("different", [0.001, -0.0316, 0.02]), ("gap", [0.05, 0.001, -0.0002])):
        heads[kind] = values
        heads[f"{kind}_low"] = np.array(values) - 0.01
        heads[f"{kind}_high"] = np.array(values) + 0.01
    pairs = pd.DataFrame({"same_sense": [True, False, False], "cosine": [0.93, 0.7, 0.8]})
    return SimpleNamespace(
        heads=heads,
        pairs=pairs,
        reliability={"different": reliability, "gap": 0.1},
        chance={"different": (1.2, 2.0), "gap": (0.4, 1.0)},
        reliable=lambda kind: reliability >= 0.8,
    )


def test_removal_names_the_largest_by_absolute_value_and_its_interval():
    text = captions.removal(removed(0.85), "different")
    assert "2 pairs of different senses (mean cosine 0.75) and 1 of the same sense (0.93)" in text
    assert "Largest: L0 H1 with −0.0316 (−0.0416 to −0.0216). On 2 of 3 heads the interval leaves out 0;" in text
    assert "a coin's, 1 would on average, and up to 2 in 19 draws of 20." in text
    assert text.endswith("agree on the ranking of the heads (reliability 0.85).")
    assert "Largest: L0 H0 with +0.0500" in captions.removal(removed(0.85), "gap")


@pytest.mark.parametrize(
    ("reliability", "why"), [(0.45, "(reliability 0.45, below 0.80)"), (NAN, "(too few words to tell)")]
)
def test_an_unreliable_ranking_is_called_so(reliability, why):
    text = captions.removal(removed(reliability), "different")
    assert "UNRELIABLE" in text and why in text


def test_clusters_count_the_clear_ones():
    text = captions.clusters(SimpleNamespace(words=pd.DataFrame({"silhouette": [0.1, 0.25, 0.6]})))
    assert "The vectors of 2 of 3 words fall" in text and "0.25 and more" in text and "not senses" in text
