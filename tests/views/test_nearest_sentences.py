"""Test the panel of the nearest labelled sentences."""

import pandas as pd
import pytest

from selfattn.views.nearest_sentences import nearest_sentences, senses_of

TEXTS = ["A bank, by a river.", "The Bank lends.", "It has a bank.", "No bank is open.", "We sat on a bank."]


def ranked(*cosines, senses=("river", "money", "money", "money", "river")):
    return pd.DataFrame({"sentence": TEXTS, "sense": senses, "cosine": cosines}, index=[7, 3, 9, 1, 2])


def test_word_is_underlined_in_nearest_sentences(encoder):
    panel = nearest_sentences(encoder, "Bank", "after layer 2", ranked(0.9, 0.8, 0.7, 0.6, 0.5))
    rows = panel.live.data["rows"]
    assert [row["said"] for row in rows] == ["cosine 0.90, river", "cosine 0.80, money", "cosine 0.70, money"]
    words = [[word["text"] for word in row["words"] if word["kind"] == "chosen"] for row in rows]
    assert words == [["bank"], ["Bank"], ["bank"]]
    assert not any(word["number"] or word["depth"] for row in rows for word in row["words"])
    assert panel.finding == (
        "Of the three sentences nearest to the word after layer 2, 1 has the sense river and 2 have the sense money."
    )


@pytest.mark.parametrize(
    ("cosines", "more"),
    [
        ((0.9, 0.8, 1e-4, 0.0, -1e-5), " (1 other is as near as the third)"),
        ((0.9, 0.8, 1e-4, 1e-5, 0.0), " (2 others are as near as the third)"),
        ((0.9, 0.8, 1.1e-4, 0.0, 0.0), ""),
    ],
)
def test_finding_counts_sentences_tied_with_third_nearest(cosines, more):
    assert senses_of("now", ranked(*cosines, senses=["river"] * 5)) == (
        f"Of the three sentences nearest to the word now, all have the sense river{more}."
    )
