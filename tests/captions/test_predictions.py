"""The sentences about an encoder's own answer: every number is of the words, heads and sentences it is said of."""

import math
from dataclasses import replace

import pandas as pd
import torch

from selfattn import numbers
from selfattn.analysis.explaining import Explained
from selfattn.captions.predictions import heads, over_sentences, words
from selfattn.senses import TargetReport
from selfattn.tidy_tables import explained_heads_frame, explained_words_frame
from selfattn.words import Word

NAN = float("nan")


def explained(effect=(0.02, -0.3, -0.4), together=-0.9, named=("We", "sat", ".")):
    own = tuple(Word(text, at, at + 1) for at, text in enumerate(named))
    heads = torch.tensor([[NAN, -0.3], [NAN, 0.1]])
    by_gradient = torch.tensor([[0.5, -0.2], [0.05, 0.2]])
    return Explained(
        sentence=None, target=None, number=1.5, words=own, effect=torch.tensor(effect), together=together,
        by_gradient=by_gradient, heads=heads, notes=(),
    )  # fmt: skip


def test_the_word_that_changes_it_most_is_no_punctuation_and_all_stand_beside_the_sum():
    assert words(explained(), "the cosine", numbers.effect, " in A") == (
        'Hide "sat" in A, and the cosine moves by −0.300; next "We", +0.020. All 3 words hidden at once: −0.900; the sum of '
        "single words: −0.680. Single words needn't add up."
    )
    alone = explained((-0.3,), named=("sat",))
    assert words(alone, "it", numbers.change) == 'Hide "sat", and it moves by −0.30.'
    assert words(explained((0.1,), named=(".",)), "it", numbers.change) == "There is no word to hide."
    assert "nothing would be left to ask" in words(explained(together=NAN), "it", numbers.change)


def test_the_leading_head_is_one_that_was_run():
    frame = explained_heads_frame(explained())
    assert frame["effect"].tolist() == torch.tensor([0.5, -0.3, 0.05, 0.1]).tolist()
    assert frame["how"].tolist() == ["by gradient", "exact", "by gradient", "exact"]
    assert heads(frame, "L1 H1", "the cosine", numbers.change, " in A") == (
        "Without L0 H1, the cosine moves by −0.30; without L1 H1 by +0.10. Heads are removed in A, each alone. 2 of them were "
        "run; the others are by gradient. Over other sentences other heads may lead."
    )


def test_the_word_that_is_asked_about_has_no_effect_and_is_written_as_its_token(encoder):
    sentence = encoder.tokenize("The [MASK] of it")
    found = explained((0.1, 0.2), named=("The", "it"))
    found = Explained(**{**vars(found), "sentence": sentence, "words": (sentence.words[0], sentence.words[-1])})
    frame = explained_words_frame({"said": found})
    assert frame["text"].tolist() == ["The", "[MASK]", "of", "it"] and frame["chosen"].tolist() == [
        False,
        True,
        True,
        False,
    ]
    assert [math.isnan(each) for each in frame["effect"]] == [False, True, True, False]


def test_over_sentences_the_largest_whose_interval_leaves_out_0():
    table = pd.DataFrame(
        [("the", 9, 0.5, -0.1, 1.0), ("sat", 3, -0.4, -0.6, -0.2), ("we", 1, 2.0, NAN, NAN)],
        columns=["word", "n", "effect", "low", "high"],
    )
    run = pd.DataFrame(
        [(0, 1, 9, -0.3, -0.5, -0.1, 0.2), (1, 0, 9, NAN, NAN, NAN, 0.9)],
        columns=["layer", "head", "n", "effect", "low", "high", "by_gradient"],
    )
    sentences = pd.DataFrame({"number": [1.0, 2.0], "sum": [-1.0, -2.0], "together": [-3.0, -1.0]})
    report = TargetReport(words=table, heads=run, sentences=sentences, rejected=pd.DataFrame(), note="")
    assert over_sentences(report, "the margin", numbers.change) == (
        'Over 2 sentences, the margin is 1.50 on average. Hiding "sat" (3 sentences) moves it by −0.40 (95 % interval −0.60 to '
        "−0.20). All words hidden at once: −2.00; the sum of single words: −1.50. Without L0 H1 it moves by −0.30 (95 % interval "
        "−0.50 to −0.10); the eight heads were chosen by these very sentences."
    )
    partly = replace(report, sentences=sentences.assign(together=[-3.0, NAN]))
    assert (
        "at once in the 1 sentences where something is left: −3.00; the sum of single words: −1.00."
        in over_sentences(partly, "it", numbers.change)
    )
    assert "at once" not in over_sentences(
        replace(report, sentences=sentences.assign(together=NAN)), "it", numbers.change
    )
    none = TargetReport(words=table[:1], heads=run[1:], sentences=sentences, rejected=pd.DataFrame(), note="")
    said = over_sentences(none, "it", numbers.change)
    assert "No word that stands in several of them moves it clearly: each interval holds 0. All" in said
    assert "eight heads" not in said
