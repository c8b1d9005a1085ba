"""The dashboard's charts in a notebook: the lines that the README shows are run here."""

import json
import re
import textwrap
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
import vl_convert
from playwright.sync_api import expect

from selfattn import Head, TextError, notebook, numbers
from selfattn.analysis.explaining import explain
from selfattn.analysis.hiding import hidden_pair
from selfattn.analysis.swapping import swap_pair
from selfattn.analysis.targets import Cosine
from selfattn.charts.theme import DARK, LIGHT
from selfattn.charts.vega import drawn_frame
from selfattn.encoders.projections import ProjectionsUnknown
from selfattn.examples import labelled_sentences
from selfattn.export.files import draw_svg
from selfattn.senses import SwapReport, random_twin
from tests.charts.scene import drawn as scene_items
from tests.charts.scene import on_ramp, same_color, texts

PAIR = ("The bank of the river.", "The bank approved the loan.")


@pytest.mark.slow
def test_the_three_lines_of_the_docstring_make_the_figure():
    lines = textwrap.dedent(re.search(r"\n\n((?:    .*\n)+)", notebook.__doc__)[1]).splitlines()
    assert len(lines) == 3
    names = {}
    exec("\n".join(lines[:2]), names)
    chart = eval(lines[2], names)
    picture = draw_svg(chart.to_dict())
    assert picture.count("river") >= 3  # beside its bars, as a row, as a column
    assert "0.62" in picture  # bank to river in L0 H10


def test_the_readme_shows_the_same_lines():
    readme = Path(__file__).parents[1] / "README.md"
    lines = textwrap.dedent(re.search(r"\n\n((?:    .*\n)+)", notebook.__doc__)[1])
    assert lines in readme.read_text("utf-8")


CRANES = ("Yesterday a crane lifted the beam.", "A crane waded slowly near the shore.")
WADED = ("The child waded across the brook.", "He waded through the report.", "She waded along the shore.")
PIECES = ((3, 4), (2, 3), (2, 3))  # of "waded", which is two tokens


class Plain(dict):
    """A figure's spec in place of Altair's chart, which takes seconds: tests/test_docs.py makes one of each."""

    def to_dict(self, validate=True):
        return dict(self)


@pytest.fixture
def plain(monkeypatch):
    monkeypatch.setattr(notebook, "_chart", Plain)


def outlined(spec):
    """The head that a map of the heads has an outline around."""
    return spec["layer"][1]["transform"][-1]["filter"]["equal"]


def drawn(chart):
    """The chart, valid and drawn, as the records that it draws."""
    spec = chart.to_dict(validate=True)
    assert draw_svg(spec).count("<path") > 5
    return drawn_frame(spec)


@pytest.mark.slow
def test_attention_draws_the_models_own_weights_of_that_head(encoder):
    chart = notebook.attention(encoder, CRANES[0], 3, 7, pair="It rained.")
    cells = drawn(chart).sort_values(["row", "column"])
    weights = encoder.reference_weights(CRANES[0], "It rained.")[3, 7]
    np.testing.assert_allclose(cells["value"], weights.flatten(), atol=1e-5)
    assert texts(chart.to_dict(), "title-text") == ["L3 H7"]


@pytest.mark.slow
def test_of_a_word_that_stands_twice_the_named_place_is_drawn(encoder, plain):
    twice = "She waded on and waded back."
    records = drawn(notebook.two_sentences(encoder, twice, WADED[1], "waded", at=(2, 1), layer=3, head=7))
    wanted = encoder.reference_weights(twice)[3, 7, 6:8].mean(0).numpy()
    own = records["a"].dropna()
    np.testing.assert_allclose(own, np.add.reduceat(wanted, [0, 1, 2, 4, 5, 6, 8, 9, 10]), atol=1e-5)
    with pytest.raises(TextError, match=r"stands 2 times in .*; there is no number 3"):
        notebook.two_sentences(encoder, twice, WADED[1], "waded", at=(3, 1), layer=3, head=7)


@pytest.mark.slow
def test_two_sentences_draws_the_words_row_and_the_map_of_each(encoder, plain):
    chart = notebook.two_sentences(encoder, *CRANES, layer=3, head=7)  # of "crane", the longest in both
    assert texts(chart, "title-text")[:2] == ["A against B   L3 H7", "A   L3 H7"]
    records = drawn(chart)
    against = records.dropna(subset="text")
    cells = records.dropna(subset=["row", "value"])
    at = 0
    starts = {"A": range(9), "B": [0, 1, 2, 3, 5, 6, 7, 8, 9, 10]}  # of the words; "waded" is two tokens
    for name, text, place in (("A", CRANES[0], 3), ("B", CRANES[1], 2)):
        weights = encoder.reference_weights(text)[3, 7].numpy()
        row = against[name.lower()].dropna()
        np.testing.assert_allclose(row, np.add.reduceat(weights[place], starts[name]), atol=1e-5)
        assert against["text"][against["chosen"].astype(bool)].tolist() == ["crane"]
        map_ = cells.iloc[at : at + weights.size].sort_values(["row", "column"])
        np.testing.assert_allclose(map_["value"], weights.flatten(), atol=1e-5)
        at += weights.size
    assert at == len(cells)


@pytest.mark.slow
def test_removals_draws_the_change_of_the_cosine_without_each_head(encoder, plain):
    chart = notebook.removals(encoder, *CRANES, "crane", chosen="L3 H7")
    assert outlined(chart.to_dict()) == "L3 H7"
    frame = drawn(chart)
    vectors = [encoder.encode(text).hidden[-1][place] for text, place in zip(CRANES, (3, 2))]
    without = [encoder.knock_out(text, place) for text, place in zip(CRANES, (3, 2))]
    expected = torch.cosine_similarity(*without, dim=-1) - torch.cosine_similarity(*vectors, dim=0)
    np.testing.assert_allclose(frame["effect"], expected.flatten(), atol=1e-5)
    assert frame["name"][3 * 12 + 7] == "L3 H7"


def beneath(chart, *names):
    """The marks of the figure beneath the heads as it opens, and of each the numbers of these names, as they are read out."""
    items = scene_items(chart.to_dict(validate=True), "rect")
    own = [item for item in items if re.search("; (word|to): ", item.get("description", ""))]
    return own, [[re.search(f"; {name}: ([^;]+)", item["description"])[1] for item in own] for name in names]


@pytest.mark.slow
def test_swaps_draws_how_far_each_head_moves_the_word_and_opens_what_the_word_attends_to(encoder, plain):
    expected = swap_pair(encoder, *zip(WADED, PIECES))
    starts = [np.setdiff1d(range(n), pieces[1:]) for n, pieces in zip((10, 9), PIECES)]  # of the words
    weights = [encoder.reference_weights(text)[:, :, list(own)].mean(2) for text, own in zip(WADED[:2], PIECES)]
    to_words = np.concatenate([np.add.reduceat(own.numpy(), at, axis=-1) for own, at in zip(weights, starts)], -1)
    leading = int(expected.a_from_b.argmax())
    for chosen, at in {"L3 H7": (3, 7), "": divmod(leading, 12)}.items():
        chart = notebook.swaps(encoder, *WADED, "waded", chosen=chosen)
        frame = drawn(chart).dropna(subset="a_from_b")
        for name in ("a_from_b", "b_from_a"):
            np.testing.assert_allclose(frame[name], getattr(expected, name).flatten(), atol=1e-5)
        np.testing.assert_allclose(frame["a_from_control"], expected.control.flatten(), atol=1e-5)
        assert chart.to_dict()["vconcat"][0]["layer"][0]["encoding"]["color"]["field"].startswith("a_from_b")
        bars, (in_a, in_b) = beneath(chart, "in A", "in B")
        n = len(starts[0])  # to the left, what A's words get
        np.testing.assert_allclose([*map(float, in_a[:n] + in_b[n:])], to_words[at], atol=1e-4)
        assert "share of the way" in texts(chart, "legend-title")
        longest = 210 / 1.25  # pixels; one scale for all heads
        np.testing.assert_allclose([bar["width"] for bar in bars], longest * to_words[at] / to_words.max(), atol=0.01)
        assert [bar["x"] < 209 or bar["width"] < 1 for bar in bars][: n + 1] == [True] * n + [False]


@pytest.mark.slow
def test_all_heads_draws_every_map_and_opens_the_chosen_ones_own_weights(encoder, plain):
    text, pair = "A crane lifted it.", "It waded."
    every = encoder.reference_weights(text, pair)
    layer, head = divmod(int(every.flatten(2).amax(-1).argmin()), 12)  # the palest map: the scale is its own
    weights = every[layer, head]
    chart = notebook.all_heads(encoder, text, "itself", pair=pair, chosen=f"L{layer} H{head}")
    cells, (shown,) = beneath(chart, "weight")
    np.testing.assert_allclose([*map(float, shown)], weights.flatten(), atol=1e-4)
    ramp = [on_ramp(LIGHT.weights, weight) for weight in (weights / weights.max()).flatten().tolist()]
    assert all(map(same_color, [cell["fill"] for cell in cells], ramp))
    strips = drawn(chart).dropna(subset="itself")
    own = ~np.array(encoder.encode(text, pair).special)
    assert strips["itself"][layer * 12 + head] == pytest.approx(float(weights.diagonal()[own].mean()), abs=1e-5)
    assert strips.groupby("layer")["y"].nunique().tolist() == [1] * 6  # a row a layer
    assert "itself" in texts(chart, "legend-title")


def test_a_measure_or_head_that_is_none_is_refused_and_where_no_head_leads_the_first_is_open(encoder_of, plain):
    encoder = encoder_of("BERT")
    with pytest.raises(ValueError, match=r"Expected a measure: entropy, .*, got 'surprise'"):
        notebook.all_heads(encoder, PAIR[0], "surprise")
    with pytest.raises(ValueError, match=r"Expected a head from L0 H0 to L\d H\d, got 'L9 H0'"):
        notebook.swaps(encoder, *PAIR, chosen="L9 H0")
    same = notebook.swaps(encoder, PAIR[0], PAIR[0], word="bank")  # no way to go, so no share of it
    assert same["params"][0]["value"] == [{"layer": 0, "head": 0}] and "control" not in drawn_frame(same)


@pytest.mark.slow
def test_steps_draws_the_words_row_of_each_step_behind_buttons(encoder, plain):
    chart = notebook.steps(encoder, *WADED[:2], "waded", layer=3, head=7)
    frame = drawn(chart).dropna(subset="weight").drop_duplicates(["sentence", "place"])
    for sentence, text, pieces in zip("AB", WADED, PIECES):
        rows = frame[frame["sentence"] == sentence]
        wanted = encoder.reference_weights(text)[3, 7, list(pieces)].mean(0).numpy()
        of_words = np.add.reduceat(wanted, np.setdiff1d(range(len(wanted)), pieces[1:]))
        assert rows["weight"].tolist() == [numbers.decimal(weight) for weight in of_words]
        assert rows["text"][rows["chosen"].astype(bool)].tolist() == ["waded"]
    assert parameter(chart.to_dict(), "shown")["bind"]["options"] == [1, 2, 3, 4]


OWN = [name for name, each in vars(notebook).items() if getattr(each, "__module__", "") == notebook.__name__]


@pytest.mark.parametrize("name", [name for name in OWN if not name.startswith("_")])
def test_a_figures_docstring_has_what_it_does_not_say(name):
    assert "What it doesn't say: " in getattr(notebook, name).__doc__


@pytest.mark.browser
def test_a_click_on_a_head_opens_it_in_any_browser(encoder, page):
    spec = notebook.swaps(encoder, *PAIR).to_dict()
    page.set_content(vl_convert.vegalite_to_html(spec, bundle=True, renderer="svg"))
    words = page.locator("[aria-label*='word: river']").first
    expect(words).to_have_attribute("aria-label", re.compile(r"in A: 0\.29"))  # L5 H7, which leads
    page.locator("path[aria-label='L0 H10']").first.click()
    expect(words).to_have_attribute("aria-label", re.compile(r"in A: 0\.6[12]"))
    expect(page.locator("svg text", has_text="L0 H10")).to_be_visible()


BANKS = ("We sat on the bank of the river.", "We went to the bank for a loan.", "They lay on the bank of the stream.")


def parameter(spec, name):
    return next(param for param in spec["params"] if param["name"] == name)


@pytest.mark.slow
def test_hidden_words_says_which_way_it_measures(encoder):
    senses = labelled_sentences()
    title, beneath = above(notebook.hidden_words(encoder, *BANKS[:2], senses=senses))
    assert title.endswith("to its other sense?") and "A is taken for river side, B for money house." in beneath
    jams = "The printer had a paper jam again.", "They ate toast with jam."
    title, beneath = above(notebook.hidden_words(encoder, *jams, senses=senses))
    assert "the other sentence’s" in title and "A fits no labelled sense of 'jam': the squared" in beneath


def above(chart):
    """The title, and what stands beneath it."""
    place = parameter(chart.to_dict(), "layouts")["value"][0]
    return " ".join(place["title"]), " ".join(place["said"])


@pytest.mark.slow
def test_another_place_of_the_words_spelling_is_one_of_the_others(encoder):
    twice = "She waded on and waded back."
    words = notebook.hidden_words(encoder, twice, WADED[1], "waded", at=(2, 1)).to_dict()["datasets"]["words"]
    own = [row for row in words if row["sentence"] == "A" and row["kind"] != "special"]
    assert [row["kind"] == "chosen" for row in own] == [False] * 4 + [True, False, False]
    expected = hidden_pair(encoder, (twice, (6, 7)), (WADED[1], (2, 3))).share[0]
    np.testing.assert_allclose([row["share"] for row in own if row["kind"] == "word"], expected[:-1], atol=1e-6)


def test_where_no_word_is_hidden_in_one_head_alone_all_heads_are_by_gradient(encoder_of):
    chart = notebook.hidden_words(encoder_of("XLM"), *PAIR)
    assert len(chart.to_dict()["datasets"]["heads"]) == 1
    assert f"All heads are by gradient: {encoder_of('XLM').one_head_reason}" in above(chart)[1]


@pytest.mark.slow
def test_hidden_words_of_the_same_sentence_twice_and_of_a_word_alone(encoder):
    for texts_, said in (
        ((BANKS[0], BANKS[0], None, "bank"), "are the same sentence"),
        (("Bank", "bank"), "no other word"),
    ):
        chart = notebook.hidden_words(encoder, *texts_)
        assert said in above(chart)[1] and draw_svg(chart.to_dict())
        curve = parameter(chart.to_dict(), "curves")["value"][0]
        assert [int(cosine) / 1e5 for cosine in curve.split(",")] == pytest.approx([1] * 7, abs=1e-5)
    with pytest.raises(TextError, match="No word stands in both"):
        notebook.hidden_words(encoder, "It rained.", WADED[0])


def test_altair_shows_the_figure_of_hidden_words_as_any_chart(encoder):
    chart = notebook.hidden_words(encoder, *PAIR)
    assert "windowSize" in chart.to_html() and json.loads(chart.to_json())["layer"] and chart._repr_mimebundle_()


@pytest.mark.slow
def test_handed_over_draws_norms_and_not_weights(encoder):
    frame = drawn(notebook.handed_over(encoder, PAIR[0], "bank", 0, 10))
    assert frame["norm"][frame["text"] == "river"].item() == pytest.approx(1.76, abs=0.0051)


@pytest.mark.slow
def test_handed_over_is_of_the_head_alone_where_the_output_projection_is_not_known(encoder, plain, monkeypatch):
    def unknown(*_):
        raise ProjectionsUnknown("no such family")

    monkeypatch.setattr(notebook, "project", unknown)
    frame = drawn(notebook.handed_over(encoder, "The bank.", "bank", 0, 10, pair="A river."))
    trace = encoder.encode("The bank.", "A river.").trace(0, 10, slice(2, 3))
    expected = float(trace.weights[0, 6] * trace.value[6].norm())
    assert frame["norm"][frame["text"] == "river"].item() == pytest.approx(expected, abs=1e-5)


def report_of(words):
    """A report of two heads with a number of its own in every place."""
    heads = [(word, 0, head) for word in words for head in (0, 1)]
    numbers = np.arange(1, len(heads) + 1) / 10
    return SwapReport(
        heads=pd.DataFrame(heads, columns=["word", "layer", "head"]).assign(share=numbers, low=1.0, high=1.0),
        sources=pd.DataFrame(
            {"word": "bank", "row": [7, 7, 8, 7, 7], "layer": [0, 0, 0, 1, 0], "head": [1, 1, 1, 1, 0],
             "token": [0, 1, 0, 0, 0], "text": ["[CLS]", "bank", *["[CLS]"] * 3], "share": [0.1, 0.2, 0.3, 0.4, 0.5]}
        ),
        reliability=pd.DataFrame({"word": [*words], "spearman_brown": [0.5, np.nan, 0.9]}),
        gaps=None, rejected=None,
    )  # fmt: skip


@pytest.mark.slow
def test_the_reports_tables_are_drawn(plain):
    report = report_of(["bank", "bat", "all"])

    def numbers(chart, column):
        return drawn_frame(chart.to_dict(validate=True)).dropna(subset=column)[column].tolist()

    bat = notebook.brought_in(report, "bat", chosen="L0 H1")
    assert numbers(bat, "share") == [0.3, 0.4] and outlined(bat) == "L0 H1"
    cells = [item["fill"] for item in scene_items(bat, "rect") if item["stroke"] != LIGHT.ink]
    assert texts(bat, "legend-title") == ["share of the gap"]
    assert all(map(same_color, cells, (on_ramp(LIGHT.effect, share) for share in ((0.3 / 0.4 + 1) / 2, 1))))
    assert numbers(notebook.brought_in(report), "share") == [0.5, 0.6]
    assert numbers(notebook.sources(report, 7, 0, 1), "share") == [0.1, 0.2]
    bars = notebook.reliability(report)
    assert numbers(bars, "spearman_brown") == [0.5, 0.9] and numbers(bars, "word") == ["bank", "all"]
    assert [bar["width"] for bar in scene_items(bars, "rect")] == pytest.approx([100, 180])  # 240 are 1.2
    curve = pd.DataFrame(
        {"word": ["bank", "bank", "bat"], "k": [1, 2, 1], "leading": [0.1, 0.2, 9], "random": [0.0, 0.1, 9],
         "others": [0.05, 0.15, 9]}
    )  # fmt: skip
    together = notebook.leading_together(curve, "bank")
    assert numbers(together, "share")[:6] == [0.1, 0.2, 0.0, 0.1, 0.05, 0.15]
    assert texts(together, "legend-label") == ["leading", "random", "of the other words"]
    assert texts(together, "axis-title") == ["heads swapped together", "share"]


def test_every_figure_wears_the_look_that_is_asked_for(encoder_of, plain):
    encoder, report, at = encoder_of("BERT"), report_of(["bank", "bat", "all"]), {"layer": 0, "head": 1}
    curve = pd.DataFrame({"word": "bank", "k": [1, 2], "leading": [0.1, 0.2], "random": [0.0, 0.1], "others": 0.1})
    sentence = encoder.encode(PAIR[0])
    found = explain(encoder, sentence, Cosine(tuple(range(len(sentence.ids))), torch.ones(encoder.d_model)))
    layers = pd.DataFrame({"layer": ["embedding", 0], "accuracy": [0.4, 0.9], "low": 0.3, "high": 1.0})
    layers = layers.assign(shuffled=0.5, each_left_out=0.5)
    means = pd.DataFrame({"layer": [0, 0], "head": [0, 1], "entropy": [1.5, 2.5]})
    figures = {
        "attention": notebook.attention(encoder, PAIR[0], 0, 1, DARK),
        "word_lines": notebook.word_lines(encoder, *PAIR, of=["L0 H1", "rollout"], theme=DARK),
        "difference": notebook.difference(encoder, encoder, PAIR[0], Head(0, 1), Head(1, 0), DARK),
        "separated": notebook.separated(SimpleNamespace(layers=layers, bag=(0.8, 0.7, 0.9)), DARK),
        "scanned": notebook.scanned(SimpleNamespace(heads=lambda: means), "entropy", theme=DARK),
        "explained_words": notebook.explained_words({"the cosine": found}, DARK),
        "explained_heads": notebook.explained_heads(found, theme=DARK),
        "counterparts": notebook.counterparts(encoder, random_twin(encoder), PAIR[0], theme=DARK),
        "from_link": notebook.from_link("http://localhost:8501/inside-a-head?head=L0+H1", encoder, theme=DARK),
        "two_sentences": notebook.two_sentences(encoder, *PAIR, **at, theme=DARK),
        "all_heads": notebook.all_heads(encoder, PAIR[0], theme=DARK),
        "steps": notebook.steps(encoder, *PAIR, **at, theme=DARK),
        "removals": notebook.removals(encoder, *PAIR, theme=DARK),
        "swaps": notebook.swaps(encoder, *PAIR, theme=DARK),
        "handed_over": notebook.handed_over(encoder, PAIR[0], "bank", 0, 1, DARK),
        "brought_in": notebook.brought_in(report, theme=DARK),
        "sources": notebook.sources(report, 7, 0, 1, DARK),
        "reliability": notebook.reliability(report, DARK),
        "leading_together": notebook.leading_together(curve, "bank", DARK),
        "parting": notebook.parting(encoder, *PAIR, theme=DARK),
        "hidden_words": notebook.hidden_words(encoder, *PAIR, theme=DARK),
    }
    assert set(figures) == {name for name in OWN if name[0] != "_"} - {"chart"}  # which draws what it is given
    light, dark = (set(re.findall("#[0-9a-f]{6}", str(theme))) for theme in (LIGHT, DARK))
    for name, spec in figures.items():
        colors = set(re.findall("#[0-9a-f]{6}", json.dumps(spec.to_dict(), default=float)))
        assert DARK.background in colors and not colors & (light - dark), name


@pytest.mark.slow
def test_parting_draws_the_cosine_at_each_depth(encoder):
    frame = drawn(notebook.parting(encoder, *CRANES, word="CRANE"))
    a, b = (encoder.encode(text) for text in CRANES)
    cosines = [torch.cosine_similarity(a.static[3], b.static[2], dim=0)]
    cosines += list(torch.cosine_similarity(a.hidden[:, 3], b.hidden[:, 2], dim=-1))
    np.testing.assert_allclose(frame.sort_values("depth")["similarity"], cosines, atol=1e-5)


def test_a_word_that_is_missing_is_named(encoder):
    with pytest.raises(TextError, match=r"'loan' is not a word of 'The bank of the river\.'"):
        notebook.parting(encoder, *PAIR, word="loan")
    with pytest.raises(TextError, match="No word stands in both"):
        notebook.parting(encoder, "One.", "Two!")
