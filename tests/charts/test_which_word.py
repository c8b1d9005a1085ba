"""A way that is not known, a line without an interval, and each word shaded by its own share."""

import math
from dataclasses import replace

import pandas as pd
import pytest

from selfattn.charts.theme import DARK, LIGHT
from selfattn.charts.which_word import agreement_list, interval_list, shaded_sentences
from selfattn.examples import labelled_sentences
from selfattn.stored_reports import stored
from tests.charts.scene import drawn, on_ramp, same_color


def test_a_way_that_is_not_known_is_left_out(encoder):
    report = stored("hidden_words", encoder, labelled_sentences()).report
    known = report.agreement["agreement"].where(report.agreement["way"] != "gradient")
    spec = agreement_list(replace(report, agreement=report.agreement.assign(agreement=known)), DARK)
    assert {line["label"] for line in spec["datasets"]["lines"]} == {*report.agreement["way"]} - {"gradient"}


def test_a_line_without_an_interval_has_its_dot_and_its_number():
    own = pd.DataFrame({"label": ["a", "b"], "value": [0.6, 0.9], "low": [0.5, math.nan], "high": [0.7, math.nan]})
    spec = interval_list({"": own}, LIGHT, ("guessing", 0.5), marked="b")
    dots, numbers = drawn(spec, "symbol"), drawn(spec, "text")
    assert [dot["fill"] for dot in dots] == [LIGHT.muted, LIGHT.effect[-1]]
    assert [number["text"] for number in numbers] == ["guessing", "60 %", "90 %"]
    dashed, *whiskers = drawn(spec, "rule")
    assert len(whiskers) == 1 and dashed["x"] < dots[0]["x"] < dots[1]["x"]
    assert whiskers[0]["x"] < dots[0]["x"] < whiskers[0]["x2"] == numbers[1]["x"]
    assert numbers[1]["y"] == pytest.approx(dots[0]["y"]) and numbers[2]["x"] == dots[1]["x"]


SENTENCES = pd.DataFrame(
    [
        (0, 'river: it comes mostly from "river"', "The", 0.02, False),
        (0, 'river: it comes mostly from "river"', "bank", math.nan, True),
        (0, 'river: it comes mostly from "river"', "river", 0.44, False),
        (1, "money: from no single word", "A", -0.12, False),
        (1, "money: from no single word", "loan", 0.2, False),
        (1, "money: from no single word", "bank", math.nan, True),
    ],
    columns=["sentence", "said", "text", "share", "chosen"],
)


def test_each_word_has_its_own_share_in_shade_and_number():
    spec = shaded_sentences(SENTENCES, DARK, width=700)
    _, _, *chips = drawn(spec, "rect")
    shades = [0.02, 0.0, 0.4, 0.0, 0.2, 0.0]
    for chip, shade, chosen in zip(chips, shades, SENTENCES["chosen"], strict=True):
        assert same_color(chip["fill"], on_ramp(DARK.effect[2:], shade / 0.4))
        assert (chip["stroke"] == DARK.ink) == chosen
    said = drawn(spec, "text")
    assert [text["text"] for text in said] == [
        *SENTENCES["text"], "", "", "44 %", "−12 %", "20 %", "", *([line] for line in SENTENCES["said"].unique())
    ]  # fmt: skip
    for chip, word in zip(chips, said[:6]):
        assert word["x"] == pytest.approx((chip["x"] + chip["x2"]) / 2, abs=1)
    assert chips[0]["y"] == chips[2]["y"] < said[-1]["y"] < chips[3]["y"]
