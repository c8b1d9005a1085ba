"""Which word the meaning comes from, in words: the branch is chosen by the numbers, each at its very edge."""

from types import SimpleNamespace

import pandas as pd
import pytest
import torch

from selfattn import Head
from selfattn.analysis.hiding import HeadsOfWord, heads_of_word, hidden_pair, unmeasured_pair
from selfattn.captions.hidden_words import (
    NO_CONTROL,
    Ranked,
    answer,
    beside_its_sense,
    compared,
    how_often,
    in_corpus,
    limit,
    notes,
    ranked,
    shown_only,
    source,
    taken_for,
    through,
)
from selfattn.examples import labelled_sentences
from selfattn.stored_reports import stored
from selfattn.words import Word
from tests.small_hidden_pair import hidden_pair_of

BANKS = ("We sat on the bank of the river.", "We went to the bank for a loan.", "They lay on the bank of the stream.")
SENSES = ("river side", "money house")


def words(*shares):
    return [Ranked(f"w{at}", share) for at, share in enumerate(shares)]


def pair_with(a, b, senses=SENSES, **other):
    """Of "the of the river ." and "A huge .", with these shares of their words, the stops' NaN."""
    share = tuple(torch.tensor([*own, torch.nan]) for own in (a, b))
    return hidden_pair_of(share=share, senses=senses, **other)


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
    ],
)
def test_each_branch_at_its_edge(shares, said):
    assert source(words(*shares)) == said


def test_punctuation_and_what_was_not_measured_are_never_named():
    own = [Word("of", 1, 2), Word(",", 2, 3), Word("river", 3, 4), Word("loan", 4, 5, "[UNK]")]
    assert ranked(own, torch.tensor([torch.nan, 0.9, 0.2, 0.5])) == [("loan [UNK]", 0.5), ("river", pytest.approx(0.2))]


MOSTLY_RIVER, LITTLE = (0.01, 0.16, 0.02, 0.44), (0.01, 0.049, 0.0, 0.02)


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (
            MOSTLY_RIVER, (-0.02, 0.2),
            'In A it comes mostly from "river"; in B more from "huge" than from any other word. Hide "river" from "bank", and '
            '"bank" moves 44 % of the way to its other sense (next: "of", 16 %); hide "huge", 20 % ("A", −2 %).',
        ),
        (
            MOSTLY_RIVER, (0.02, 0.05),
            'In A it comes mostly from "river"; in B from no single word: the largest is "huge", 5 % of the way to its other '
            'sense. Hide "river" from "bank" in A, and "bank" moves 44 % of the way to its other sense (next: "of", 16 %).',
        ),
        (
            LITTLE, (0.02, 0.4),
            'In A it comes from no single word: the largest is "of", 5 % of the way to its other sense; in B mostly from "huge". '
            'Hide "huge" from "bank" in B, and "bank" moves 40 % of the way to its other sense (next: "A", 2 %).',
        ),
        (
            LITTLE, (0.02, 0.03),
            'In A it comes from no single word: the largest is "of", 5 % of the way to its other sense; in B from no single '
            'word: the largest is "huge", 3 %.',
        ),
    ],
)  # fmt: skip
def test_only_a_word_that_is_named_is_hidden_and_the_unit_stands_at_the_first_number(a, b, said):
    assert " ".join(answer(pair_with(a, b))) == said


def test_between_the_sentences_the_unit_names_the_other_one():
    assert answer(pair_with(MOSTLY_RIVER, (0.02, 0.05), senses=None)) == [
        'In A it comes mostly from "river"; in B from no single word: the largest is "huge", 5 % of the way to A\'s "bank".',
        'Hide "river" from "bank" in A, and "bank" moves 44 % of the way to B\'s "bank" (next: "of", 16 %).',
    ]


@pytest.mark.slow
def test_the_first_pairs_answer(encoder):
    words = [(sentence, "bank") for sentence in BANKS]
    between = hidden_pair(encoder, *words, senses=labelled_sentences())
    assert " ".join(answer(between)) == (
        'In A it comes mostly from "river"; in B more from "loan" than from any other word. Hide "river" from "bank", and '
        '"bank" moves 44 % of the way to its other sense (next: "of", 16 %); hide "loan", 20 % ("to", 7 %).'
    )
    assert taken_for(between) == "A is taken for river side, B for money house."
    report = stored("hidden_words", encoder, labelled_sentences()).report
    assert limit(between, report) == (
        "This is about these two sentences. Tested on 32 words, 768 sentences: seeing only its most telling word, the "
        "encoder picks the right sense in 89 % of them (seeing all words 92 %, guessing 50 %)."
    )
    pair = hidden_pair(encoder, *words)
    assert " ".join(answer(pair)) == (
        'In A it comes mostly from "river"; in B more from "loan" than from any other word. Hide "river" from "bank", and '
        '"bank" moves 35 % of the way to B\'s "bank" (next: "of", 19 %); hide "loan", 23 % ("to", 5 %).'
    )
    assert limit(pair, report, between_senses=between) == (
        "This is about these two sentences. Whether that is the sense, one pair can't tell: between the senses, "
        '"river" 44 %, "loan" 20 %.'
    )
    assert compared(pair) == (
        'As they are, the two "bank" have cosine 0.80; with "river" and "loan" hidden 0.93, with any two other words at most '
        "0.86; A and the control 0.92, with their own leading words hidden 0.97."
    )
    heads = heads_of_word(encoder, between, 0, between.top[0], exact=True)
    assert through(heads, between) == "Hidden in L0 H10, L5 H6 and L5 H7 together: 24 %; in all heads: 44 %."


def test_where_nothing_can_be_hidden_or_moves(encoder):
    first, moved = answer(hidden_pair(encoder, ("Bank!", "bank"), (BANKS[1], "bank")))
    assert first.startswith("In A there is no other word to hide; in B it comes ")
    assert first.endswith(" A longer sentence has more words to hide.")
    assert moved.startswith('Hide "') and 'of the way to A\'s "Bank"' in moved
    same = hidden_pair(encoder, (BANKS[0], "bank"), (BANKS[0], "bank"))
    assert answer(same) == ["A and B are the same sentence: change one of them, and the word has a way to move."]
    assert limit(same) == ""
    cased = hidden_pair(encoder, (BANKS[0], "bank"), (BANKS[0].upper(), "bank"))
    assert answer(cased) == [
        'The two "bank" vectors are the same, so there is no way from one to the other: change more in one sentence.'
    ]
    assert notes(same) == () and notes(hidden_pair_of(notes=("Long.",))) == ("Long.",)
    (only,) = answer(hidden_pair(encoder, ("Bank", "bank"), ("bank", "bank")))
    assert only == (
        "In A there is no other word to hide; in B there is no other word to hide. A longer sentence has more words to hide."
    )


def test_a_lone_words_share_of_b_is_on_the_way_to_a():
    lone = hidden_pair_of(
        words=((), hidden_pair_of().words[1]), share=(torch.zeros(0), torch.tensor([0.05, 0.01, 0.0]))
    )
    assert answer(lone) == [
        'In A there is no other word to hide; in B it comes from no single word: the largest is "A", 5 % of the way to A\'s '
        '"bank". A longer sentence has more words to hide.'
    ]  # fmt: skip


def test_nothing_is_answered_where_nothing_was_hidden(encoder):
    pair = unmeasured_pair(encoder, (BANKS[0], "bank"), (BANKS[1], "bank"))
    assert answer(pair) == [] and limit(pair) == ""
    assert compared(pair) == f'As they are, the two "bank" have cosine 0.80. {NO_CONTROL}'
    assert shown_only("XLNet", "two streams.", "bank") == (
        'In XLNet no word can be hidden from "bank" (two streams): its weights and the curve still show; choose another '
        "encoder to see which word the meaning comes from."
    )


def report_of(words, alone=0.885, every=0.9164):
    accuracy = [("all", "as it is", every), ("all", "the word alone", alone), ("bank", "as it is", 0.1)]
    rows = [(row, word) for word in words for row in range(3) for _ in range(2)]
    return SimpleNamespace(
        accuracy=pd.DataFrame(accuracy, columns=["word", "what", "accuracy"]),
        words=pd.DataFrame(rows, columns=["row", "word"]),
    )


def test_what_was_tested_over_many_sentences_is_counted():
    assert how_often(report_of(["bat", "bank"])) == (
        "Tested on 2 words, 6 sentences: seeing only its most telling word, the encoder picks the right sense in 89 % of them "
        "(seeing all words 92 %, guessing 50 %)."
    )
    assert how_often(report_of(["bank"], 0.5, 1)).startswith('Tested on "bank", 3 sentences: ')


def test_each_limit():
    two = "This is about these two sentences."
    senses, sentences = pair_with(MOSTLY_RIVER, (0.0, 0.2)), pair_with(MOSTLY_RIVER, (0.0, 0.2), senses=None)
    assert limit(senses) == f"{two} Not tested on this encoder yet."
    assert limit(senses, report_of(["bank"])) == f"{two} {how_often(report_of(['bank']))}"
    assert limit(sentences) == f"{two} Whether that is the sense, one pair can't tell."
    assert limit(sentences, report_of(["bank"]), labelled=False) == (
        f'{two} Whether that is the sense, one pair can\'t tell. Label sentences of "bank" to see whether it holds.'
    )
    other = pair_with((0.3, 0.1, 0.2, -0.03), (0.24, 0.0))
    assert limit(sentences, between_senses=other) == (
        f'{two} Whether that is the sense, one pair can\'t tell: between the senses, "river" −3 %, "A" 24 %.'
    )
    assert limit(sentences, between_senses=sentences) == limit(sentences)  # it fits no sense
    assert limit(hidden_pair_of(top=(3, None)), between_senses=other).endswith('between the senses, "river" −3 %.')


def test_which_senses_they_are_taken_for():
    assert taken_for(pair_with(LITTLE, (0.0, 0.2), senses=None)) == ""
    assert taken_for(pair_with(LITTLE, (0.0, 0.2), senses=("river side", "river side"))) == ""


def test_the_cosines_of_what_is_there():
    assert compared(hidden_pair_of(top=(None, 0), control_hidden=torch.nan)) == (
        'As they are, the two "bank" have cosine 0.03; with "A" hidden 0.07; A and the control 0.55.'
    )


@pytest.mark.parametrize(
    ("cosines", "said"),
    [
        ([0.42, 0.93, 0.78], '3 labelled sentences of its sense (river side): cosine 0.71 on average, 0.42 to 0.93; each '
                             "nearer to A than B is."),
        ([0.02, 0.92], "cosine 0.47 on average, 0.02 to 0.92; 1 of them no nearer to A than B is."),
    ],
)  # fmt: skip
def test_the_labelled_sentences_of_as_sense_stand_beside_it(cosines, said):
    text = beside_its_sense(hidden_pair_of(), "river side", torch.tensor(cosines))
    assert text.startswith('"bank" in A and in ') and text.endswith(said)


def test_what_a_corpus_says_a_word_takes_its_meaning_from():
    columns = ["word", "source", "n", "share", "move", "sentence"]
    rows = [
        ("bank", "river", 1200, 0.6, 0.0812, ""),
        ("bank", "loan", 500, 0.25, 0.1, ""),
        ("bank", "of", 9, 0.0045, 0.2, ""),
    ]
    table = pd.DataFrame(rows, columns=columns)
    assert in_corpus(table) == (
        'Of 2,000 times "bank", hiding "river" moves it farthest in 1,200, "loan" in 500, "of" in 9; then it moves '
        "0.081 on average (1 − cosine, which has no direction: it is about the vector, not the sense)."
    )
    assert "farthest in 1,200; then" in in_corpus(table.head(1))


def test_how_much_the_leading_heads_make():
    pair, share = pair_with(MOSTLY_RIVER, (0.0, 0.2)), torch.tensor([[0.1, 0.3, 0.2], [0.0, torch.nan, 0.05]])

    def said(together, share=share):
        return through(HeadsOfWord(0, 3, pair.words[0][3], share, True, together), pair)

    assert said(0.239) == "Hidden in L0 H1, L0 H2 and L0 H0 together: 24 %; in all heads: 44 %."
    assert said(0.1) and not said(0.0999) and not said(None) and not said(torch.nan)
    assert said(0.3, torch.tensor([[0.3]])) == "Hidden in L0 H0: 30 %; in all heads: 44 %."
    assert said(0.3, torch.tensor([[0.3, 0.1]])) == "Hidden in L0 H0 and L0 H1 together: 30 %; in all heads: 44 %."
    assert HeadsOfWord(0, 3, pair.words[0][3], share, True, 0.3).leading[0] == Head(0, 1)
