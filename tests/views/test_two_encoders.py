"""Two encoders: the word whose rows differ most, and the heads that differ most, by the numbers of the comparison."""

import math
from dataclasses import replace

import pandas as pd
import pytest
import torch

from selfattn.analysis.compare import EncoderComparison
from selfattn.analysis.cosine_parts import CosineParts
from selfattn.encoders.capture import Head
from selfattn.panel import Look
from selfattn.senses import CheckpointsReport
from selfattn.views import two_encoders
from tests.charts.scene import drawn, texts

FIRST = torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.1, 0.7], [0.3, 0.3, 0.4]])
SECOND = torch.tensor([[0.8, 0.1, 0.1], [0.5, 0.4, 0.1], [0.3, 0.3, 0.4]])
COMPARED = EncoderComparison(words=("the", "bank", "the"), first=FIRST, second=SECOND, left_out=("x",))
TITLES = ("one, L0 H1", "other, L0 H1")
HEADS = pd.DataFrame(
    {"layer": 0, "head": [0, 1], "distance": [0.1, 0.4], "n": 7, "low": [0.05, 0.3], "high": [0.2, 0.6], "others": [0.5, 0.55]}
)  # fmt: skip
NONE = pd.DataFrame(columns=["row", "reason"])


def over(heads, rejected=NONE):
    return two_encoders.over_many(CheckpointsReport(heads, rejected), Head(0, 0), 8)


def test_the_row_that_differs_most_comes_first_then_the_maps():
    row, difference, first, second = two_encoders.one_sentence(COMPARED, TITLES)
    assert row.finding == 'Where "bank" looks: 0.70 on "the (2)" in the first, 0.10 in the second.'
    assert row.note.startswith('"bank" differs most: 0.60 of its weight lies elsewhere in the second. Words only')
    assert row.note.endswith("One of the two can't read, so it is left out: x.")
    picture = row.picture(Look(width=600))
    assert [item["text"] for item in drawn(picture, "text")] == ["0.50", "0.40", "0.70", "0.20", "0.10", "0.10"]
    assert texts(picture, "axis-title") == ['weight from "bank"']
    assert difference.finding == 'Largest difference: −0.60, from "bank" to "the".'
    assert first.finding == 'Largest weight: 0.90, from "the" to "the".' and second.finding.startswith(
        "Largest weight: 0.80"
    )
    assert difference.tables["second minus first"]["weight"].tolist() == COMPARED.difference.flatten().tolist()


def test_heads_over_many_sentences():
    heads = over(HEADS, pd.DataFrame({"row": [2], "reason": ["too long."]}))
    assert heads.finding == "1 of 2 heads is no nearer to its own counterpart than to other heads."
    assert heads.note == (
        "A cell: how much of the head's weight lies elsewhere in the second encoder. Head 1 of layer 0 differs most: 0.40. "
        "L0 H0, over 7 sentences: 0.10 (95 %: 0.05 to 0.20); from the other heads of its layer 0.50. Left out: 1 of 8 sentences; "
        "the first is number 3: too long."
    )  # fmt: skip


def test_heads_that_are_all_nearer_or_none():
    nearer = over(HEADS.assign(others=0.7)).finding
    assert nearer == "Each head is nearer to its own counterpart than to other heads."
    none = over(HEADS.assign(others=0.1)).finding
    assert none == "2 of 2 heads are no nearer to their own counterpart than to other heads."


def test_the_same_weights_twice_have_no_word_that_differs():
    row = two_encoders.row(replace(COMPARED, second=FIRST), TITLES)
    assert row.finding == "Every word looks at the same words in both." and row.note.startswith("Words only")


def test_one_text_has_no_interval_and_a_single_head_no_others():
    heads = over(HEADS[["layer", "head", "distance"]].assign(n=1, low=math.nan, high=math.nan, others=math.nan))
    assert heads.finding == "Head 1 of layer 0 differs most: 0.40 of its weight lies elsewhere."
    assert heads.note == (
        "A cell: how much of the head's weight lies elsewhere in the second encoder. L0 H0, over 1 sentence: 0.10."
    )


def test_pairs_of_words_whose_parts_differ_most(encoder):
    a, b = encoder.encode("We sat"), encoder.encode("She sat")
    tables = torch.zeros(2, 3, 3, dtype=torch.float64)
    tables[0, 0, 1], tables[1, 0, 1], tables[1, 2, 2] = 0.3, 0.1, 0.9  # the last are special tokens
    sides = [CosineParts(a=a, b=b, cosine=cosine, table=table) for cosine, table in zip((0.3, 1.0), tables)]
    panel = two_encoders.similarity(*sides)
    assert panel.finding == '"We" and "sat" differ most: their part of the cosine changes by −0.200.'
    assert panel.note == "Cosine 0.30 in the first, 1.00 in the second."
    assert panel.table["value"].tolist()[:2] == [0.3, 0.1] and len(panel.tables["pairs"]) == 9
    other = replace(sides[1], b=encoder.encode("It sat"))
    with pytest.raises(ValueError, match="read other tokens"):
        two_encoders.similarity(sides[0], other)
