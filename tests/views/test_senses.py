"""The panels of Senses: their order, their words at each branch, and every number the report's to the printed digit."""

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from selfattn import numbers
from selfattn.charts.theme import LIGHT
from selfattn.check import raw_c_measured
from selfattn.encoders.capture import Head
from selfattn.encoders.sources import BUNDLED_CONTENT
from selfattn.examples import labelled_sentences
from selfattn.panel import Look
from selfattn.stored_reports import shipped_of_others, stored
from selfattn.views import scanned, senses
from tests.charts.scene import drawn
from tests.small_reports import NAN, hidden, separation

FRAME = labelled_sentences()
HEAD = Head(0, 10)


@pytest.fixture(scope="module")
def reports(encoder):
    return {name: stored(name, encoder, FRAME).report for name in ("hidden_words", "separation")}


@pytest.fixture(scope="module")
def panels(encoder, reports):
    others = shipped_of_others("hidden_words", encoder, FRAME)
    every = [
        *senses.hidden_words_panels(encoder, reports["hidden_words"], FRAME, "bank", HEAD, others),
        *senses.separation_panels(reports["separation"], HEAD),
    ]
    return {panel.name: panel for panel in every}


def hits(value):
    return f"{numbers.decimal(100 * value, 0)} of 100"


def printed(panel):
    """The texts that a picture draws."""
    return [item["text"] for item in drawn(panel.picture(Look(width=700)), "text")]


def share(value, places=0):
    return numbers.share(value, places).replace(" ", "\u00a0")


def test_the_panels_stand_in_the_order_of_the_story(panels):
    order = ["sentences", "one word", "attention", "heads", "leading heads", "layers", "attention adds"]
    assert list(panels) == order
    tables = [table for panel in panels.values() for table in panel.tables]
    assert len(tables) == len(set(tables))  # each is a file of its own


def test_the_findings_numbers_are_the_reports(panels, reports):
    report, separated = reports["hidden_words"], reports["separation"]
    own, ways = report.of()["accuracy"], report.agreement.set_index("way")["agreement"]
    said = {name: panel.finding for name, panel in panels.items()}
    rows = report.named[report.named["word"] == "bank"].groupby("row")["share"].max()
    above = int((rows >= report.level.level).sum())
    assert said["sentences"] == f'In {above} of {len(rows)} sentences one word moves "bank" further than chance does.'
    needed, enough = hits(own["the word hidden"]), numbers.decimal(100 * own["the word alone"], 0)
    assert said["one word"] == (
        f"The most telling word is rarely needed and usually enough: without it {needed} sentences keep their sense, with it "
        f"alone {enough}."
    )
    made_up = raw_c_measured(BUNDLED_CONTENT)["most attended"]
    natural = numbers.decimal(100 * ways["most attended"], 0)
    assert said["attention"] == (
        f"In made-up pairs the most attended word is the right one in {hits(made_up)}, in natural sentences in {natural}."
    )
    heads = report.heads[report.heads["word"] == "all"].sort_values("share", ascending=False)
    first = heads.iloc[0]
    where = f"Head {first['head']} of layer {first['layer']}"
    assert said["heads"] == f"{where} carries the most: alone, {share(first['share'], 1)} of the distance."
    assert said["leading heads"] == f"{where} comes first in {share(first['leads'])} of resamples."
    best = separated.layers.iloc[1:].sort_values("accuracy").iloc[-1]
    right = hits(best["accuracy"])
    assert (
        said["layers"] == f"After layer {best['layer']} the word's vector tells the senses apart in {right} sentences."
    )
    sure = (separated.heads["adds_low"] > 0).sum()
    assert said["attention adds"] == f"On {sure} of 72 heads attention surely adds something; by chance about 2 would."


def test_the_pictures_print_the_reports_numbers(encoder, panels, reports):
    report, other = reports["hidden_words"], next(iter(shipped_of_others("hidden_words", encoder, FRAME).values()))
    both = [numbers.share(value) for pair in zip(report.of()["accuracy"], other.of()["accuracy"]) for value in pair]
    assert [text for text in printed(panels["one word"]) if text.endswith(" %")] == both
    ways = report.agreement.set_index("way")["agreement"]
    pairs = raw_c_measured(encoder.content)
    groups = (
        ["weights x V", "most attended", "rollout", "largest single weight"],
        ["gradient", "nearest"],
        [*ways.index[-2:]],
    )
    natural = [numbers.share(ways[way]) for group in groups for way in group]
    assert printed(panels["attention"])[1:] == [
        *natural,
        *(numbers.share(pairs[way]) for way in ("most attended", "hiding")),
    ]
    shares = report.heads[report.heads["word"] == "all"]["share"].nlargest(6)
    assert printed(panels["leading heads"]) == [numbers.share(value, 1) for value in shares]
    layers = drawn(panels["layers"].picture(Look()), "symbol")
    assert len(layers) == 6  # without what layer 0 reads


def test_made_up_pairs_are_those_of_the_benchmarks(encoder):
    (row,) = re.findall(r"\| most attended \| (.*) \|", Path("benchmarks/RESULTS.md").read_text("utf-8"))
    assert raw_c_measured(encoder.content)["most attended"] == float(row.split(" | ")[0])
    assert raw_c_measured("another") == {}


def test_a_sentences_row_has_its_shares(encoder, panels, reports):
    report, data = reports["hidden_words"], panels["sentences"].live.data
    rows = senses.opened(report, FRAME, "bank")
    assert len(data["rows"]) == len(rows) == 24 and rows["share"].is_monotonic_decreasing
    for row, shown in zip(rows.itertuples(), data["rows"]):
        text = "".join(" " * word["gap"] + word["text"] for word in shown["words"])
        assert text == row.sentence and shown["said"] == row.sense
        assert [word["text"] for word in shown["words"] if word["kind"] == "chosen"] == ["bank"]
        (leader,) = [word for word in shown["words"] if word["text"] == row.first]
        assert leader["number"] == numbers.percent(row.share)
        assert (leader["kind"], leader["depth"] > 0) == (("word", True) if row.share >= 0.21 else ("leader", False))
        assert sum(bool(word["number"]) for word in shown["words"]) == max(
            1, (report.words[report.words["row"] == row.Index]["share"] >= 0.21).sum()
        )


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({}, "rarely needed and usually enough: without it 77 of 100 sentences keep their sense, with it alone 89."),
        ({"the word alone": 0.83}, "rarely needed, and not enough either: without it 77"),
        ({"the word hidden": 0.7}, "needed and usually enough: without it 70"),
        ({"the word alone": 0.7, "the word hidden": 0.7}, "needed and not enough: without it 70"),
        (
            {"the word alone": 0.6},
            "No single word is enough: the most telling one alone tells the sense in 60 of 100 sentences.",
        ),
        ({"as it is": 0.52}, "Even all words together tell the sense in only 52 of 100 sentences."),
    ],
)
def test_one_word_at_each_branch(told, said):
    assert said in senses.one_word({"this": hidden(told)}).finding


def test_few_words_and_one_word_are_said():
    three, one = (senses.one_word({"this": hidden(words=n, wide=0.0)}) for n in (3, 1))
    assert three.note.endswith("over 3 words. So few words say little about others.")
    assert "over the sentences of one word." in one.note


def test_attention_without_made_up_pairs_with_luck_and_unknown():
    assert (
        senses.attention(hidden()).finding == "The most attended word is the most telling one in 35 of 100 sentences."
    )
    lucky = hidden(agreement={"most attended": 0.12})
    assert senses.attention(lucky).finding.endswith("in 12 of 100 sentences, no more often than luck.")
    unknown = senses.attention(
        hidden(agreement=dict.fromkeys(["most attended", "gradient"], NAN), reason="No gradient.")
    )
    assert unknown.finding.startswith("What attention names isn't known") and unknown.note.endswith("No gradient.")
    assert "35 %" not in printed(unknown) and "38 %" in printed(unknown)


def test_without_a_noise_level_the_leading_word_is_the_finding(encoder, reports):
    few = FRAME[FRAME["word"] == "bank"]
    report = reports["hidden_words"]
    own = replace(report, words=report.words[report.words["word"] == "bank"])
    panel = senses.sentences(encoder, own, few, "bank")
    first = senses.opened(own, few, "bank").iloc[0]
    assert (
        panel.finding
        == f'Hide "{first["first"]}", and "bank" moves {share(first["share"])} of the distance to its other sense.'
    )
    assert "takes 300 labelled sentences to tell; there are 24" in panel.note
    assert any(word["number"] == "9 %" for row in panel.live.data["rows"] for word in row["words"])  # from 5 % on


def test_separation_of_few_words_and_of_a_head_that_adds():
    small = senses.layers(separation(n_words=1, low=NAN))
    assert small.note.endswith("1 word: others may differ.") and "interval" not in small.method
    adds = senses.adds(separation(), Head(0, 1))
    assert adds.finding == "On 1 of 4 heads attention surely adds something; by chance about 0 would."
    assert adds.note == "Most on L1 H0: +0.12 (95 % interval +0.02 to +0.22). On 1 it surely takes something away."
    assert "exceeds 0.57 once in twenty times (1,000 shuffles); 2 heads do." in adds.method


def test_a_scans_sources_and_means(encoder):
    rows = [
        ("bank", "river", 12, 0.6, 0.0812, "The bank of the river."),
        ("bank", "loan", 5, 0.25, 0.1, "A bank's loan, a bank."),
    ]
    table = pd.DataFrame(rows, columns=["word", "source", "n", "share", "move", "sentence"])
    panel = scanned.sources(encoder, table)
    assert panel.finding == 'Hiding "river" moves "bank" farthest most often: in 12 of 20 occurrences.'
    row = panel.live.data["rows"][0]
    assert row["said"] == '"river" in 12; then it moves 0.081 on average' and panel.live.data["open"]
    assert [(word["text"], word["number"]) for word in row["words"] if word["number"]] == [("river", "60 %")]
    assert scanned.opened(table, 1) == (rows[1][-1], rows[0][-1]) and scanned.opened(table[:1], 0) is None
    assert scanned.sources(encoder, table[:1]).live.data["open"] == ""
    heads = pd.DataFrame({"layer": [0, 0], "head": [0, 1], "entropy": [1.0, 2.5]})
    assert (
        scanned.means(heads, "entropy", Head(0, 0), 1200).finding
        == "Largest mean entropy: L0 H1 (2.50), over 1,200 occurrences."
    )


def test_dots_of_two_encoders_share_a_line_each_in_its_own_colour(panels):
    dots = drawn(panels["one word"].picture(Look(width=900)), "symbol")
    assert [dot["fill"] for dot in dots[:4]] == [LIGHT.effect[-1], LIGHT.muted] * 2
    assert 0 < dots[1]["y"] - dots[0]["y"] < dots[2]["y"] - dots[0]["y"]
