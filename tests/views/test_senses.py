"""Test the panels of the page "Senses"."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from selfattn import numbers
from selfattn.check import raw_c_measured
from selfattn.encoders.capture import Head
from selfattn.encoders.sources import BUNDLED_CONTENT
from selfattn.examples import labelled_sentences
from selfattn.panel import Look
from selfattn.senses.noise import NoiseLevel
from selfattn.stored_reports import shipped_of_others, stored
from selfattn.tidy_tables import leading_words_frame
from selfattn.views import scanned, senses
from tests.charts.scene import drawn

FRAME = labelled_sentences()
HEAD = Head(0, 10)
MADE_UP = raw_c_measured(BUNDLED_CONTENT)


@pytest.fixture(scope="module")
def report(encoder):
    return stored("hidden_words", encoder, FRAME).report


@pytest.fixture(scope="module")
def separated(encoder):
    return stored("separation", encoder, FRAME).report


@pytest.fixture(scope="module")
def other(encoder):
    return shipped_of_others("hidden_words", encoder, FRAME)


@pytest.fixture(scope="module")
def panels(encoder, report, separated, other):
    hidden = senses.hidden_words_panels(encoder, report, FRAME, "bank", HEAD, other)
    return {panel.name: panel for panel in (*hidden, *senses.separation_panels(separated, HEAD))}


def changed(report, **values):
    accuracy, agreement = report.accuracy.copy(), report.agreement.copy()
    for name, value in values.items():
        for table, column, key in ((accuracy, "accuracy", "what"), (agreement, "agreement", "way")):
            rows = table[key] == name.replace("_", " ")
            table.loc[rows, [column, "low", "high"]] = value, value - 1 / 32, value + 1 / 32
    return replace(report, accuracy=accuracy, agreement=agreement)


def share(value, places=0):
    return numbers.share(value, places).replace(" ", "\u00a0")


def printed(panel):
    return [item["text"] for item in drawn(panel.picture(Look(width=700)), "text")]


def test_method_text_compares_single_heads_with_all_heads(report, other):
    sums = []
    for own in (report, *other.values()):
        largest = own.named.groupby(["word", "row"])["share"].max().groupby("word").mean().mean()
        heads = own.heads.loc[own.heads["word"] == "all", "share"].sum()
        sums.append((heads, largest))
        panel, first = senses.heads(own, HEAD), own.heads[own.heads["word"] == "all"].nlargest(1, "share").iloc[0]
        assert panel.finding.endswith(
            f" has the largest effect: hiding the most telling word in this head alone moves the labelled word "
            f"{share(first['share'], 1)} of the distance to its other senses."
        )
        method = panel.method
        assert (
            f"add up to {share(heads)} of the distance" in method
            and f"at once, the move is {share(largest)}." in method
        )
    # The single heads' shares add up to 30 % (second report: 57 %) less than the share with all heads at once.
    assert np.round(sums, 2).tolist() == [[0.14, 0.20], [0.04, 0.10]]


def test_stored_result_equals_benchmark_table():
    (row,) = re.findall(r"\| most attended \| (.*) \|", Path("benchmarks/RESULTS.md").read_text("utf-8"))
    assert MADE_UP["most attended"] == float(row.split(" | ")[0]) and raw_c_measured("another") == {}


def test_rows_show_how_far_word_moves(panels, report):
    rows, shown = senses.opened(report, FRAME, "bank"), panels["sentences"].live.data["rows"]
    assert len(shown) == len(rows) == 24
    assert rows["sense"].tolist() == ["riverside", "finance"] * 12
    assert all(own["share"].is_monotonic_decreasing for _, own in rows.groupby("sense"))
    for row, line in zip(rows.itertuples(), shown):
        assert "".join(" " * word["gap"] + word["text"] for word in line["words"]) == row.sentence
        assert line["said"] == row.sense
        assert [word["text"] for word in line["words"] if word["kind"] == "chosen"] == ["bank"]
        (leader,) = [word for word in line["words"] if word["text"] == row.first]
        assert leader["number"] == numbers.percent(row.share)
        assert (leader["kind"], leader["depth"] > 0) == (("word", True) if row.share >= 0.21 else ("leader", False))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"the_word_alone": 0.83}, "rarely needed and not enough: the right sense is found in 77 of 100"),
        ({"the_word_hidden": 0.7}, "needed and usually enough: the right sense is found in 70 of 100"),
        ({"the_word_alone": 0.7, "the_word_hidden": 0.7}, "needed and not enough: the right sense is found in 70 of 100"),
        ({"the_word_alone": 0.59}, "No single word is enough: with only the most telling word, the right sense is found in 59 "),
        ({"as_it_is": 0.52}, "Even with all words, the encoder finds the right sense in only 52 of 100 sentences."),
        # Each of these cases is exactly at a limit: an interval begins at 0.5; two intervals touch; the gains over guessing
        # are 80 % (the word alone) and 50 % (the word hidden) of the gain with all words.
        ({"as_it_is": 0.53125}, "Even with all words, the encoder finds the right sense in only 53 of 100 sentences."),
        ({"the_word_alone": 0.75, "any_other_alone": 0.6875}, "No single word is enough: with only the most telling word"),
        ({"as_it_is": 1.0, "the_word_alone": 0.9, "the_word_hidden": 0.75}, "rarely needed and usually enough: the right sense"),
    ],
)  # fmt: skip
def test_finding_says_if_right_sense_needs_telling_word(report, values, expected):
    assert expected in senses.one_word({"this": changed(report, **values)}).finding


def test_axis_begins_below_smallest_number(report):
    for other, begin in ((0.35, "0.3"), (0.6, "0.4")):
        picture = senses.one_word({"": changed(report, any_other_alone=other)}).picture(Look())
        assert f'"domain": [{begin}, 1.0]' in json.dumps(picture)
    assert '"domain": [0.0, 1.0]' in json.dumps(senses.attention(report).picture(Look()))


def test_empty_panels_are_left_out(encoder, report):
    heads = report.heads.assign(share=report.heads["share"].where(report.heads.index > 0))
    without = heads.assign(share=math.nan)
    names = [
        [panel.name for panel in senses.hidden_words_panels(encoder, replace(report, heads=table), FRAME, word, HEAD)]
        for table, word in ((heads, "bank"), (without, "absent"))
    ]
    assert names == [["sentences", "one word", "attention", "heads"], ["one word", "attention"]]


def test_note_warns_of_few_words(report):
    few, one = (
        replace(report, words=report.words[report.words["word"].isin(own)]) for own in (("bank", "bat"), ("bank",))
    )
    assert senses.one_word({"": few}).note.endswith(
        "over 2 words. Results for so few words may not hold for other words."
    )
    ten = replace(report, words=report.words[report.words["word"].isin(report.words["word"].unique()[:10])])
    assert senses.one_word({"": ten}).note.endswith("over 10 words.")
    assert "over the sentences of one word." in senses.one_word({"": one}).note


def test_attention_is_compared_with_chance(report):
    assert (
        senses.attention(report).finding
        == "The most attended word is also the most telling word in 35 of 100 sentences."
    )
    lucky = changed(report, most_attended=0.12)
    lucky.agreement.loc[lucky.agreement["way"] == "most attended", "low"] = lucky.luck
    lucky = senses.attention(lucky)
    assert lucky.finding.endswith("in 12 of 100 sentences, no more often than by chance.")
    unknown = senses.attention(replace(changed(report, most_attended=math.nan), reason="No gradient."))
    assert unknown.finding.startswith("The most attended words aren't known") and unknown.note.endswith("No gradient.")
    assert "35 %" not in printed(unknown) and "38 %" in printed(unknown)


def test_no_noise_level_for_too_few_sentences(encoder, report):
    own = replace(report, words=report.words[report.words["word"] == "bank"])
    panel, first = senses.sentences(encoder, own, FRAME, "bank"), senses.opened(own, FRAME, "bank").iloc[0]
    moved = f'"bank" moves {share(first["share"])} of the distance to its other sense.'
    assert panel.finding == f'Hide "{first["first"]}", and {moved}'
    assert "24 sentences are too few for a noise level (300 are needed)" in panel.note
    assert any(
        word["number"] == "9 %" for row in panel.live.data["rows"] for word in row["words"]
    )  # from 5 %, numbers are printed


def test_figure_shows_sentences_with_longest_and_shortest_moves(encoder, report):
    """The effect of hiding a word is printed if it is at least 5 % of the distance between the senses."""
    bank, frame = report.words[report.words["word"] == "bank"], pd.concat([FRAME, FRAME.set_axis(FRAME.index + 1000)])
    bank = bank.assign(
        share=bank["share"].where(bank.index > bank.index[1], 0.05).where(bank.index > bank.index[0], 0.0499)
    )
    twice = replace(report, words=pd.concat([bank, bank.assign(row=bank["row"] + 1000)]))
    every, rows = leading_words_frame(twice, frame), senses.opened(twice, frame, "bank")
    assert sorted(rows.index) == sorted([*every.index[:12], *every.index[-12:]]) and len(every) == 48
    panel = senses.sentences(encoder, twice, frame, "bank")
    assert "The figure shows the 12 sentences with the longest moves and the 12 with the shortest." in panel.note
    shades = panel.tables["sentences"].query("kind == 'word'")
    printed = [
        bool(word["number"]) for row in panel.live.data["rows"] for word in row["words"] if word["kind"] == "word"
    ]
    assert sum(printed) == (shades["share"] >= 0.05).sum()


def test_finding_includes_effect_equal_to_noise_level(encoder, report):
    largest = report.named[report.named["word"] == "bank"].groupby("row")["share"].max()
    own = replace(report)
    own.__dict__["level"] = NoiseLevel(largest.nlargest(5).min(), 0.1, 0.3)
    assert senses.sentences(encoder, own, FRAME, "bank").finding.startswith("In 5 of 24 sentences, hiding one word")


def test_finding_names_no_word_if_signs_are_random(encoder, report):
    """Each hidden word's effect gets a random sign, and each head's interval includes 0."""
    signs = np.random.default_rng(0).choice([-1, 1], len(report.words))
    words = report.words.assign(share=report.words["share"] * signs).sort_values("word", key=lambda own: own != "bank")
    words = words[words.groupby(["word", "row"], sort=False).ngroup() < 300]  # the minimum for a noise level
    lot = replace(report, words=words, heads=report.heads.assign(low=0.0, leads=0.005))
    panel = senses.sentences(encoder, lot, FRAME, "bank")
    assert panel.finding == 'Hiding a single word never moves "bank" further than chance could.'
    assert {word["depth"] for row in panel.live.data["rows"] for word in row["words"]} == {0}
    heads = senses.heads(lot, HEAD)
    assert (
        heads.finding
        == "In no single head does hiding the most telling word clearly move the labelled word toward its other senses."
    )
    assert heads.note.count("%") == 2  # two heads in half a percent of resamples each


def test_finding_counts_heads_whose_attention_helps(separated):
    p_value = [0.05, 0.049, 0.01, *[1.0] * 69]
    columns = {"adds_high": separated.heads["adds_high"].abs(), "adds_low": separated.heads["adds_low"].clip(lower=0)}
    heads = separated.heads.assign(p_value=p_value, **columns)
    panel = senses.adds(replace(separated, heads=heads), HEAD)
    sure, best = (heads["adds_low"] > 0).sum(), heads.loc[heads["adds"].idxmax()]
    assert panel.finding == f"Attention helps to tell the senses apart in {sure} of 72 heads; by chance, in 2."
    assert "(1,000 shuffles). Heads above this accuracy: 2." in panel.method
    span = numbers.span(best["adds_low"], best["adds_high"], numbers.effect)
    assert (
        panel.note
        == f"Of all heads, {Head(int(best['layer']), int(best['head']))} has the accuracy furthest above the better baseline: "
        f"{numbers.effect(best['adds'])} (95 % interval {span})."
    )


def test_results_for_one_word_have_no_interval(separated):
    layers, gain = separated.layers.assign(low=math.nan), separated.heads["adds"].clip(lower=0)
    heads = separated.heads.assign(adds_low=math.nan, adds=gain)
    one = replace(separated, layers=layers, heads=heads, words=separated.words[separated.words["word"] == "bank"])
    small, adds = senses.separation_panels(one, HEAD)
    ten = separated.words[separated.words["word"].isin(separated.words["word"].unique()[:10])]
    low = senses.layers(replace(separated, layers=separated.layers.assign(low=0.39), words=ten))
    assert small.note.endswith("The results are for only 1 word.") and "interval" not in small.method
    assert '"domain": [0.39, 1.0]' in json.dumps(low.picture(Look())) and "only" not in low.note
    assert small.method.startswith("1 word, ") and senses.layers(separated).method.startswith(
        "32 words, 768 sentences."
    )
    assert adds.finding == f"Attention helps to tell the senses apart in {(heads['adds'] > 0).sum()} of 72 heads."
    assert adds.note.endswith("There is no interval, because all sentences have the same word.")


def test_scan_findings_name_leading_word_or_head(encoder):
    rows = [
        ("bank", "river", 12, 0.6, 0.0812, "The bank of the river."),
        ("bank", "loan", 5, 0.25, 0.1, "A bank's loan."),
    ]
    table = pd.DataFrame(rows, columns=["word", "source", "n", "share", "move", "sentence"])
    panel = scanned.sources(encoder, table)
    assert (
        panel.finding
        == 'Of all hidden words, "river" most often has the largest effect on "bank": in 12 of 20 occurrences of the target word.'
    )
    row = panel.live.data["rows"][0]
    assert (
        row["said"]
        == 'Hiding "river" has the largest effect on 12 occurrences of the target word: '
        "on average, it moves their vectors (1 minus cosine) by 0.081"
        and panel.live.data["open"]
    )
    assert [(word["text"], word["number"]) for word in row["words"] if word["number"]] == [("river", "60 %")]
    assert scanned.opened(table, 1) == (rows[1][-1], rows[0][-1]) and scanned.opened(table[:1], 0) is None
    assert scanned.sources(encoder, table[:1]).live.data["open"] == ""
    long = table.assign(sentence=table["sentence"] + " and on" * 300)  # some encoders read longer texts
    assert len(scanned.sources(encoder, long).live.data["rows"][0]["words"]) > 600
    many = pd.DataFrame([rows[0]] * 25, columns=table.columns)
    assert scanned.sources(encoder, many).note.startswith(
        "The figure shows 24 of 25 words: those that most often have the largest effect. A move is"
    )
    assert len(scanned.sources(encoder, many).live.data["rows"]) == 24
    assert scanned.sources(encoder, many[:24]).note.startswith("A move is")
    heads = pd.DataFrame({"layer": [0, 0], "head": [0, 1], "entropy": [1.0, 2.5]})
    finding = scanned.means(heads, "entropy", Head(0, 0), 1200).finding
    assert finding == "L0 H1 has the largest mean entropy: 2.50, over 1,200 occurrences."
