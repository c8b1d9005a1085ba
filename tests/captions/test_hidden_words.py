"""Which word the meaning comes from, in words: the branch is chosen by the numbers, each at its very edge."""

import pytest
import torch

from selfattn.analysis.hiding import hidden_pair
from selfattn.captions.hidden_words import Ranked, answer, ranked, source
from selfattn.examples import labelled_sentences
from selfattn.words import Word

BANKS = ("We sat on the bank of the river.", "We went to the bank for a loan.")


def words(*shares):
    return [Ranked(f"w{at}", share) for at, share in enumerate(shares)]


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ((0.33, 0.22), 'mostly from "w0"'),
        ((0.329, 0.219), 'more from "w0" than from any other word'),
        ((0.33, 0.221), 'from "w0" and "w1"'),
        ((0.1, -0.2), 'more from "w0" than from any other word'),
        ((0.0999, 0.01), 'from no single word: the largest is "w0", 10 %'),
        ((-0.02, -0.2), 'from no single word: the largest is "w0", −2 %'),
        ((0.4, 0.3, 0.2, 0.2), 'from "w0", "w1" and "w2"'),
        ((0.4, 0.3, 0.199), 'from "w0" and "w1"'),
        ((0.5,), 'mostly from "w0"'),
        ((), "there is no other word to hide"),
    ],
)
def test_each_branch_at_its_edge(shares, said):
    assert source(words(*shares)) == said


def test_punctuation_and_what_was_not_measured_are_never_named():
    own = [Word("of", 1, 2), Word(",", 2, 3), Word("river", 3, 4), Word("loan", 4, 5, "[UNK]")]
    assert ranked(own, torch.tensor([torch.nan, 0.9, 0.2, 0.5])) == [("loan [UNK]", 0.5), ("river", pytest.approx(0.2))]


@pytest.mark.slow
def test_the_first_pairs_answer(encoder):
    words = [(sentence, "bank") for sentence in BANKS]
    between = hidden_pair(encoder, *words, senses=labelled_sentences())
    assert " ".join(answer(between)) == (
        'In A mostly from "river"; in B more from "loan" than from any other word. Hide "river" from "bank", and "bank" moves '
        '44 % of the way to its other sense (next: "of", 16 %); hide "loan", 20 % ("to", 7 %).'
    )
    assert " ".join(answer(hidden_pair(encoder, *words))) == (
        'In A mostly from "river"; in B more from "loan" than from any other word. Hide "river" from "bank", and "bank" moves '
        '35 % of the way to B\'s "bank" (next: "of", 19 %); hide "loan", 23 % ("to", 5 %).'
    )


def test_where_nothing_can_be_hidden_or_moves(encoder):
    first, moved = answer(hidden_pair(encoder, ("Bank!", "bank"), (BANKS[1], "bank")))
    assert first.startswith("In A there is no other word to hide; in B ")
    assert moved.startswith('Hide "') and 'of the way to A\'s "Bank"' in moved
    assert answer(hidden_pair(encoder, (BANKS[0], "bank"), (BANKS[0], "bank"))) == []
    (only,) = answer(hidden_pair(encoder, ("Bank!", "bank"), ("bank", "bank")))
    assert only == "In A there is no other word to hide; in B there is no other word to hide."
