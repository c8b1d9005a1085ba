"""One word over many sentences, in words: each branch is chosen by the numbers and their intervals.

What is said of the built-in sentences stands in tests/as_shown/senses.json.
"""

import math

import pandas as pd
import pytest

from selfattn.captions import which_word as captions
from selfattn.captions.hidden_words import Ranked
from selfattn.senses.hiding import WHAT, HiddenWordsReport

WAYS = [
    "nearest",
    "most attended",
    "largest single weight",
    "weights x V",
    "rollout",
    "gradient",
    "value zeroing",
    "[MASK]",
]


def report_of(accuracy=(), agreement=(), between=((0.34, 0.31, 0.37), (0.33, 0.29, 0.37)), words=12, reason=""):
    """A report with some numbers changed; an interval reaches .03 to either side."""
    numbers = dict(zip(WHAT, (0.92, 0.77, 0.92, 0.86, 0.9, 0.89, 0.55, 0.72, 0.61))) | dict(accuracy)
    named = [*(f"w{n}" for n in range(words)), "all"]
    rows = [(word, what, value, value - 0.03, value + 0.03) for word in named for what, value in numbers.items()]
    ways = dict(zip(WAYS, (0.17, 0.35, 0.25, 0.38, 0.28, 0.87, 0.85, 0.73))) | dict(agreement)
    pairs = [(word, senses, *line) for word in named for senses, line in zip(("one", "two"), between)]
    one = pd.DataFrame(
        [(n, f"w{n}", at, text, 0.1, 0.5) for n in range(words) for at, text in enumerate((*"abcdefghij", "."))],
        columns=["row", "word", "start", "text", "share", "picked"],
    )
    return HiddenWordsReport(
        words=one,
        accuracy=pd.DataFrame(rows, columns=["word", "what", "accuracy", "low", "high"]),
        agreement=pd.DataFrame([(w, v, v - 0.03, v + 0.03, 0.1) for w, v in ways.items()],
                               columns=["way", "agreement", "low", "high", "rank"]),
        between=pd.DataFrame(pairs, columns=["word", "senses", "named", "low", "high"]),
        rejected=pd.DataFrame(),
        reason=reason,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("accuracy", "said"),
    [
        ({}, "One word is usually enough and rarely the only one: "),
        ({"the word alone": 0.84}, "One word is usually enough and rarely the only one: "),
        ({"the word alone": 0.83}, "One word helps, is not enough, and is rarely the only one: "),
        ({"the word hidden": 0.7}, "One word is usually enough, and little is left without it: "),
        (
            {"the word alone": 0.7, "the word hidden": 0.7},
            "One word is needed and not enough: ",
        ),
        (
            {"the word alone": 0.6},
            "No single word carries it: alone, the most telling word tells the sense in 60 of 100",
        ),
        ({"the word alone": 0.62}, "One word helps, is not enough"),
        (
            {"as it is": 0.52},
            "Even with all words the sense is told in 52 of 100 sentences only (95 % interval 49 to 55; ",
        ),
        ({"as it is": 0.54}, "One word is usually enough"),
        ({"as it is": math.nan}, "Even with all words the sense is told in unknown of 100"),
        ({"the word alone": math.nan}, "No single word carries it"),
    ],
)
def test_whether_one_word_is_enough_and_needed(accuracy, said):
    assert captions.one_word(report_of(accuracy)).startswith(said)


def test_few_words_are_said_to_be_few_and_one_has_intervals_over_its_sentences():
    assert captions.one_word(report_of()).endswith("in 35. Lines: 95 % intervals over 12 words.")
    assert captions.one_word(report_of(words=3)).endswith("over 3 words. So few words say little about others.")
    one = report_of(words=1)
    one.accuracy.loc[one.accuracy["word"] == "all", ["low", "high"]] = math.nan
    one.between.loc[one.between["word"] == "all", ["low", "high"]] = math.nan
    assert captions.one_word(one).startswith("One word is usually enough and rarely the only one")
    assert "over the sentences of one word. So few" in captions.one_word(one)
    assert "(95 % interval 31 to 37 %)" in captions.not_from_two(one)
    unknown = captions.one_word(report_of(agreement={"most attended": math.nan}))
    assert "most attended" not in unknown


def test_a_chosen_words_own_numbers():
    report = report_of()
    report.accuracy.loc[
        (report.accuracy["word"] == "w2") & (report.accuracy["what"] == "the word hidden"), "accuracy"
    ] = 0.6
    assert captions.in_word(report, "w2") == (
        '"w2", 1 sentences: its most telling word alone tells the sense in 89 of 100 (95 % interval 86 to 92), the rest without '
        "it in 60 (95 % interval 74 to 80), all words in 92."
    )
    assert captions.in_word(report, "crane").startswith('"crane" has too few sentences for it: four of each sense')


def test_two_senses_named_more_often_or_not():
    assert "no more often. So a word named" in captions.not_from_two(
        report_of(between=((0.3, 0.2, 0.4), (0.5, 0.4, 0.6)))
    )
    assert captions.not_from_two(report_of(between=((0.3, 0.2, 0.4), (0.5, 0.41, 0.6)))) == (
        "Between two sentences of different senses the main view's rule names a word more often, in 50 % of pairs (95 % interval "
        "41 to 60 %), than between two of one sense, in 30 % of pairs (95 % interval 20 to 40 %); a single pair can't "
        "tell which of "
        "the two it is."
    )


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ((0.35, 0.38), "So a large weight is a hint"),
        ((0.35, 0.53), "in 53 (95 % interval 50 to 56; most attended 35"),
        ((0.35, 0.9), ""),
        ((0.35, 0.3), "most attended names it most often, in 35"),
    ],
)
def test_how_attention_does(weights, said):
    text = captions.on_trial(report_of(agreement=zip(("most attended", "weights x V"), weights)))
    assert said in text and ("is a hint" in text) == (max(weights) < 0.5)


def test_attention_no_better_than_luck_and_ways_that_are_not_known():
    few = report_of(agreement=dict.fromkeys(WAYS[1:5], 0.12))
    assert few.luck == pytest.approx(
        0.1
    ) and "rollout 12). That is no better than luck. The gradient" in captions.on_trial(few)
    gone = report_of(agreement=dict.fromkeys(WAYS[1:], math.nan), reason="gradient: it can't be had.")
    assert captions.on_trial(gone) == (
        "Over 12 sentences: a word drawn at random is the most telling one in 10 of 100. gradient: it can't be had."
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([("river", 0.44), ("of", 0.16)], 'it comes mostly from "river", 44 % of the way'),
        ([("loan", 0.2), ("to", 0.19)], 'it comes from "loan" and "to", 20 % of the way'),
        ([("split", 0.05), ("a", 0.0)], 'it comes from no single word: the largest is "split", 5 % of the way'),
        ([], "there is no way between the senses"),
    ],
)
def test_what_is_said_of_one_sentence(words, said):
    assert captions.in_sentence([Ranked(*word) for word in words]) == said


def test_which_sentences_are_drawn():
    assert captions.shaded(False, "bank", 24, 3).startswith(
        '"bank": the 3 of 24 sentences in which most hangs on one word'
    )
    assert captions.shaded(False, "bank", 6, 3).startswith('"bank", 6 sentences. ')
    assert captions.shaded(True, "bank", 24, 3).startswith("The ticked sentence. ")
