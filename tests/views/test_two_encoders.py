"""Test the panels of the page "Two encoders"."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from selfattn.analysis.compare import EncoderComparison
from selfattn.analysis.cosine_parts import CosineParts
from selfattn.charts.theme import LIGHT
from selfattn.encoders.capture import Head
from selfattn.panel import Look
from selfattn.senses import CheckpointsReport
from selfattn.views import two_encoders
from tests.charts.scene import drawn, rgb, texts

FIRST = torch.tensor([[0.9, 0.1, 0.0, 0.0], [0.2, 0.1, 0.7, 0.0], [0.3, 0.3, 0.4, 0.0], [0.9, 0.1, 0.0, 0.0]])
SECOND = torch.tensor([[0.8, 0.1, 0.1, 0.0], [0.5, 0.4, 0.1, 0.0], [0.3, 0.3, 0.4, 0.0], [0.1, 0.2, 0.7, 0.0]])
COMPARED = EncoderComparison(words=("the", "bank", "the", "."), first=FIRST, second=SECOND, left_out=("x",))
NAMES, HEADS = ("one", "other"), (Head(0, 1), Head(0, 1))
FRAME = pd.DataFrame(
    {"layer": 0, "head": [0, 1], "distance": [0.1, 0.4], "n": 7, "low": [0.05, 0.3], "high": [0.2, 0.6], "others": [0.5, 0.55],
     "nearer": [True, False]}
)  # fmt: skip
REPORT = CheckpointsReport(
    heads=FRAME, by_chance=pd.DataFrame({"shift": [1], "nearer": [0]}), rejected=pd.DataFrame(columns=["row", "reason"])
)


def one_sentence(compared=COMPARED, heads=HEADS):
    return list(two_encoders.one_sentence(compared, NAMES, heads))


def over(report=REPORT, partner="counterpart"):
    return list(two_encoders.over_many(report, Head(0, 0), 8, partner))


def test_bar_of_largest_difference_has_bold_label():
    row = one_sentence()[0]
    assert row.finding == 'In head 1 of layer 0 of one, "bank" gives "the (2)" 0.60 more weight than in other.'
    assert row.note == (
        'The weight from "bank" to "the (2)" is 0.70 in one and 0.10 in other. Special tokens are left out, and the other '
        "weights are scaled to sum to 1. Words that one of the encoders can't read are left out: x."
    )
    picture = row.picture(Look(width=600))
    labels = drawn(picture, "text", "axis-label")
    assert [item["text"] for item in labels if item.get("fontWeight") == "bold"] == ["the (2)"]
    assert texts(picture, "legend-label") == ["more in one", "more in other"]
    assert texts(picture, "axis-label") == ["the (1)", "bank", "the (2)", "full stop"]
    assert sorted(texts(picture)) == ["+0.60", "0.00", "−0.30", "−0.30"]
    assert picture["layer"][0]["encoding"]["x"]["scale"]["domain"] == pytest.approx([-0.3, 0.6])
    assert row.table["difference"].tolist() == COMPARED.difference[1].tolist()


def test_finding_of_map_ignores_outlined_row():
    _, difference, first, second = one_sentence()
    assert (
        difference.finding == "Largest difference outside the outlined row: in the first encoder, "
        'the full stop gives "the (1)" 0.80 more weight than in other.'
    )
    assert difference.note == 'The outlined row belongs to the word whose weights differ most: "bank".'
    picture = difference.picture(Look(width=600))
    assert texts(picture, "legend-title") == [["+ more in one", "− more in other"]]
    assert texts(picture, "legend-label") == ["−0.80", "", "0", "", "+0.80"]
    assert [item["y"] for item in drawn(picture, "rect") if item.get("strokeWidth") == 2] == [100.0]  # bank's row
    assert difference.table["weight"].tolist() == (FIRST - SECOND).flatten().tolist()
    assert {texts(each.picture(Look()), "legend-label")[-1] for each in (first, second)} == {"0.90"}
    assert first.finding == 'Largest weight: 0.90, from "the (1)" to "the (1)".'
    assert second.finding.startswith("Largest weight: 0.80") and texts(second.picture(Look()), "title-text") == [
        "other, L0 H1"
    ]


def test_swapped_encoders_give_opposite_finding():
    row, difference, first, second = one_sentence(replace(COMPARED, first=SECOND, second=FIRST))
    assert row.finding == 'In head 1 of layer 0 of one, "bank" gives "the (2)" 0.60 less weight than in other.'
    assert difference.finding.endswith('the full stop gives "the (1)" 0.80 less weight than in other.')
    assert {texts(each.picture(Look()), "legend-label")[-1] for each in (first, second)} == {"0.90"}


def test_finding_names_both_heads_if_different():
    row, difference, *_ = one_sentence(heads=(Head(0, 1), Head(2, 3)))
    assert row.finding == 'In L0 H1 of one, "bank" gives "the (2)" 0.60 more weight than in L2 H3 of other.'
    assert difference.finding.startswith(
        "Largest difference outside the outlined row: in the first encoder, the full stop"
    )


def test_bar_colour_shows_which_encoder_gives_more_weight():
    bars = drawn(one_sentence()[0].picture(Look(width=600)), "rect")
    assert [rgb(bar["fill"]) for bar in bars] == [rgb(LIGHT.signed[end]) for end in (0, 0, -1, -1)]


def test_introduction_names_encoders():
    assert two_encoders.about(("one", "the untrained twin"), "untrained twin") == (
        "Compare each head of one with the same head of its untrained twin: the same architecture with random weights."
    )
    assert two_encoders.about(NAMES, "counterpart") == "Compare each head of one with the same head of other."
    assert two_encoders.about(NAMES, "") == "Compare a head of one with a head of other on one sentence."


def test_bars_of_long_sentence_show_largest_differences():
    first, second = torch.full((20, 20), 0.05), torch.full((20, 20), 0.05)
    first[3] = torch.arange(20) / 190
    words = tuple(f"w{i}" for i in range(20))
    row = one_sentence(EncoderComparison(words=words, first=first, second=second, left_out=()))[0]
    assert row.note.endswith("The bars show the 12 largest of 20 differences.") and len(row.table) == 20
    assert texts(row.picture(Look(width=600)), "axis-label") == [f"w{i}" for i in range(20) if not 5 < i < 14]


def test_finding_for_equal_attention_weights():
    row, difference, *_ = one_sentence(replace(COMPARED, second=FIRST))
    assert row.finding == "Every word gives the same weights in both encoders." and row.note.startswith(
        "Words that one of the encoders"
    )
    assert difference.finding == "No other word differs." and not difference.note
    only_bank = torch.stack([FIRST[0], SECOND[1], FIRST[2], FIRST[3]])
    assert one_sentence(replace(COMPARED, second=only_bank))[1].finding == "No other word differs."


def test_finding_names_head_farthest_from_counterpart():
    rejected = pd.DataFrame({"row": [2], "reason": ["too long."]})
    heads, _ = over(replace(REPORT, rejected=rejected))
    assert (
        heads.finding
        == "Over 7 sentences, head 1 of layer 0 differs most from its counterpart (distance 0.40); the chosen head 0 of layer 0 "
        "has distance 0.10."
    )
    assert heads.note == (
        "Distance 0 means the same weights as the counterpart; 1 means no weight in common. Click a head to open it below. "
        "95 % intervals: 0.30 to 0.60 for head 1 of layer 0; 0.05 to 0.20 for the chosen head. 1 of 8 "
        "sentences are left out. The first is sentence 3: too long."
    )  # fmt: skip
    assert heads.live.data["scale"]["about"] == "share of the weight that the two heads give to different tokens"


@pytest.mark.parametrize(
    ("nearer", "by_chance", "finding"),
    [
        ([True, True], [1], "Each head is nearer to its own twin than to other heads' twins."),
        ([False, False], [1], "No head is nearer to its own twin than to other heads' twins."),
        (
            [True, False],
            [1, 0],
            "Only 1 of 2 heads is nearer to its own twin than to other heads' twins; by chance, 0 to 1 would be.",
        ),
        (
            [True, False],
            [8, 1],
            "Only 1 of 2 heads is nearer to its own twin than to other heads' twins; by chance, 1 to 8 would be.",
        ),
        (
            [True, False],
            [0, 0],
            "1 of 2 heads is nearer to its own twin than to other heads' twins; by chance, 0 would be.",
        ),
    ],
)
def test_finding_counts_heads_nearer_to_own_twin(nearer, by_chance, finding):
    """A head's twin is the same head of the encoder with random weights.

    The finding counts the heads that are nearer to their own twin than to other heads' twins.
    """
    chance = pd.DataFrame({"shift": range(1, 1 + len(by_chance)), "nearer": by_chance})
    panel = over(replace(REPORT, heads=FRAME.assign(nearer=nearer), by_chance=chance), "twin")[1]
    assert panel.finding == finding
    assert panel.note.endswith(
        "To count how many heads would be nearer by chance, each head is paired with another head's twin."
    )
    coloured = [bool(depth) for depth in panel.live.data["depths"].split(",")]
    assert coloured == nearer and len(panel.picture(Look())["datasets"]["heads"]) == 2


def test_heads_not_nearer_to_counterpart_show_only_interval():
    data = over()[1].live.data
    assert data["said"] == ["+0.400 (+0.300 to +0.450)", "(−0.050 to +0.250)"]
    assert data["scale"]["about"] == "how much nearer to its own counterpart than to other heads' counterparts"
    of_one = over(replace(REPORT, heads=FRAME.assign(low=math.nan, high=math.nan)))[1]
    assert of_one.live.data["said"] == ["+0.400", ""]


def test_method_text_explains_untrained_encoder():
    *_, chance = over(REPORT, "untrained twin")
    assert "new random parameters" in chance.method and "random weights" not in over()[1].method


def test_results_for_one_sentence_have_no_interval():
    alone = FRAME[:1].assign(n=1, low=math.nan, high=math.nan, others=math.nan, nearer=False)
    (heads,) = over(replace(REPORT, heads=alone, by_chance=REPORT.by_chance[:0]))
    assert (
        heads.finding
        == "Over 1 sentence, the chosen head 0 of layer 0 differs most from its counterpart (distance 0.10)."
    )
    assert (
        heads.note
        == "Distance 0 means the same weights as the counterpart; 1 means no weight in common. Click a head to open it below."
    )


def test_finding_names_word_pair_that_differs_most(encoder):
    a, b = encoder.encode("We sat"), encoder.encode("She .")
    tables = torch.zeros(2, 3, 3, dtype=torch.float64)
    tables[0, 0, 1], tables[1, 0, 1], tables[1, 2, 2] = 0.3, 0.1, 0.9  # last row and column: special tokens
    sides = [CosineParts(a=a, b=b, cosine=cosine, table=table) for cosine, table in zip((0.3, 1.0), tables)]
    panel = two_encoders.similarity(*sides, NAMES)
    assert panel.finding == 'In one, "We" and the full stop add 0.200 more to the cosine than in other.'
    assert panel.note == "The cosine is 0.30 in one and 1.00 in other."
    assert panel.table["label"][0] == "We – full stop" and len(panel.tables["pairs"]) == 9
    assert np.allclose(panel.table["difference"], [0.2, 0, 0, 0])
    less = two_encoders.similarity(*reversed(sides), NAMES)
    assert less.finding == 'In one, "We" and the full stop add 0.200 less to the cosine than in other.'
    other = replace(sides[1], b=encoder.encode("It sat"))
    with pytest.raises(ValueError, match="into different tokens"):
        two_encoders.similarity(sides[0], other, NAMES)
