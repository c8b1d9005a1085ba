"""The dashboard's charts in a notebook draw what the encoder itself says."""

import json
import re
from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from selfattn import Head, TextError, notebook, numbers
from selfattn.analysis.explaining import explain
from selfattn.analysis.hidden_sentences import hidden_sentences
from selfattn.analysis.hiding import hidden_pair
from selfattn.analysis.targets import Cosine
from selfattn.charts.theme import DARK, LIGHT
from selfattn.charts.vega import drawn_frame
from selfattn.examples import labelled_sentences
from selfattn.export.files import draw_svg
from selfattn.panel import Look
from selfattn.senses import HiddenWordsReport, random_twin
from selfattn.views.kernel_row import word_row
from selfattn.views.kernel_view import kernel_panel
from tests.charts.scene import drawn as scene_items
from tests.charts.scene import on_ramp, same_color, texts

PAIR = ("The bank of the river.", "The bank approved the loan.")


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


def texts_of(chart):
    """All texts that a chart draws from its records."""
    rows = [row for records in chart.to_dict()["datasets"].values() for row in records]
    return " | ".join(row["text"] for row in rows if "text" in row).replace("\u00a0", " ")


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
    np.testing.assert_allclose(records["a"].dropna(), np.add.reduceat(wanted, [0, 1, 2, 4, 5, 6, 8, 9, 10]), atol=1e-5)
    with pytest.raises(TextError, match=r"stands 2 times in .*; there is no number 3"):
        notebook.two_sentences(encoder, twice, WADED[1], "waded", at=(3, 1), layer=3, head=7)


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


def parameter(spec, name):
    return next(param for param in spec["params"] if param["name"] == name)


@pytest.mark.slow
def test_all_heads_draws_every_map_and_opens_the_chosen_ones_own_weights(encoder, plain):
    text, pair = "A crane lifted it.", "It waded."
    every = encoder.reference_weights(text, pair)
    layer, head = divmod(int(every.flatten(2).amax(-1).argmin()), 12)  # the palest map: the scale is its own
    weights = every[layer, head]
    chart = notebook.all_heads(encoder, text, "itself", pair=pair, chosen=f"L{layer} H{head}")
    items = scene_items(chart.to_dict(validate=True), "rect")
    cells = [item for item in items if "; to: " in item.get("description", "")]  # beneath the heads, as it opens
    shown = [float(re.search("; weight: ([^;]+)", item["description"])[1]) for item in cells]
    np.testing.assert_allclose(shown, weights.flatten(), atol=1e-4)
    ramp = [on_ramp(LIGHT.weights, weight) for weight in (weights / weights.max()).flatten().tolist()]
    assert all(map(same_color, [cell["fill"] for cell in cells], ramp))
    strips = drawn(chart).dropna(subset="itself")
    own = ~np.array(encoder.encode(text, pair).special)
    assert strips["itself"][layer * 12 + head] == pytest.approx(float(weights.diagonal()[own].mean()), abs=1e-5)
    assert strips.groupby("layer")["y"].nunique().tolist() == [1] * 6  # a row a layer
    assert "itself" in texts(chart, "legend-title")


def test_a_measure_or_head_that_is_none_is_refused(encoder_of, plain):
    encoder = encoder_of("BERT")
    with pytest.raises(ValueError, match=r"Expected a measure: entropy, .*, got 'swap, A from B'"):
        notebook.all_heads(encoder, PAIR[0], "swap, A from B", second=PAIR[1])
    with pytest.raises(ValueError, match=r"Expected a head from L0 H0 to L\d H\d, got 'L9 H0'"):
        notebook.all_heads(encoder, PAIR[0], chosen="L9 H0")


def test_steps_is_the_kernel_figure_of_the_words_first_piece(encoder):
    chart = notebook.steps(encoder, *WADED[:2], "waded", layer=3, head=7).to_dict()
    rows = [word_row(encoder.encode(text).places("waded")[0], Head(3, 7), name) for name, text in zip("AB", WADED)]
    assert [row.query for row in rows] == [pieces[0] for pieces in PIECES[:2]]
    assert chart == kernel_panel(rows, head=Head(3, 7)).picture(Look())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        ("We sat on the bank of the river.", "We went to the bank for a loan.", "of the gap toward money house."),
        (
            "The printer had a paper jam again.",
            "They ate toast with jam.",
            "to the other sentence's",
        ),  # A fits no sense
    ],
)
def test_hidden_words_says_which_way_it_measures(encoder, first, second, says):
    chart = notebook.hidden_words(encoder, first, second, senses=labelled_sentences())
    assert says in texts_of(chart)


@pytest.mark.slow
def test_another_place_of_the_words_spelling_is_one_of_the_others(encoder):
    twice = "She waded on and waded back."
    shown = texts_of(notebook.hidden_words(encoder, twice, WADED[1], "waded", at=(2, 1)))
    hidden = hidden_pair(encoder, (twice, (6, 7)), (WADED[1], (2, 3)))
    top = hidden.words[0][hidden.top[0]]
    assert f'"{top.label}"' in shown and numbers.percent(float(hidden.share[0].max())) in shown


def test_where_no_word_is_hidden_in_one_head_alone_all_heads_are_by_gradient(encoder_of):
    chart = notebook.hidden_words(encoder_of("XLM"), *PAIR)
    assert "by gradient" in texts_of(chart)


def test_altair_shows_the_figure_of_hidden_words_as_any_chart(encoder):
    chart = notebook.hidden_words(encoder, *PAIR)
    assert json.loads(chart.to_json())["layer"] and chart._repr_mimebundle_() and "vega" in chart.to_html()


def test_every_figure_wears_the_look_that_is_asked_for(encoder_of, encoder, plain):
    embedder, encoder = encoder, encoder_of("BERT")
    at, look = {"layer": 0, "head": 1, "theme": DARK}, {"theme": DARK}
    sentence = encoder.encode(PAIR[0])
    found = explain(encoder, sentence, Cosine(tuple(range(len(sentence.ids))), torch.ones(encoder.d_model)))
    layers = pd.DataFrame({"layer": ["embedding", 0], "accuracy": [0.4, 0.9], "low": 0.3, "high": 1.0})
    words = {"words": pd.DataFrame({"word": ["bank"], "layer": 0}), "items": (), "chance": 0.5}
    means = pd.DataFrame({"layer": [0, 0], "head": [0, 1], "entropy": [1.5, 2.5]})
    figures = {
        "attention": notebook.attention(encoder, PAIR[0], **at),
        "difference": notebook.difference(encoder, encoder, PAIR[0], Head(0, 1), Head(1, 0), **look),
        "separated": notebook.separated(SimpleNamespace(layers=layers, bag=(0.8, 0.7, 0.9), **words), **look),
        "scanned": notebook.scanned(SimpleNamespace(heads=lambda: means), "entropy", **look),
        "explained_words": notebook.explained_words({"the cosine": found}, **look),
        "hidden_sentences": notebook.hidden_sentences(
            {"the cosine": hidden_sentences(encoder, sentence, found.target)}, **look
        ),
        "explained_heads": notebook.explained_heads(found, **look),
        "similar": notebook.similar(embedder, *PAIR, **look),
        "counterparts": notebook.counterparts(encoder, random_twin(encoder), PAIR[0], **look),
        "two_sentences": notebook.two_sentences(encoder, *PAIR, **at),
        "all_heads": notebook.all_heads(encoder, PAIR[0], **look),
        "steps": notebook.steps(encoder, *PAIR, **at),
        "removals": notebook.removals(encoder, *PAIR, **look),
        "hidden_words": notebook.hidden_words(encoder, *PAIR, **look),
    }
    own = {name for name, each in vars(notebook).items() if getattr(each, "__module__", "") == notebook.__name__}
    assert set(figures) == {name for name in own if name[0] != "_"} - {"chart"}  # which draws what it is given
    light, dark = (set(re.findall("#[0-9a-f]{6}", str(theme))) for theme in (LIGHT, DARK))
    for name, spec in figures.items():
        colors = set(re.findall("#[0-9a-f]{6}", json.dumps(spec.to_dict(), default=float)))
        assert DARK.background in colors and not colors & (light - dark), name


def test_from_link_is_refused_with_the_remedy():
    with pytest.raises(
        ImportError, match=r"from_link is gone\. Open the link .* \"Copy as Python\"; or call hidden_words"
    ):
        notebook.from_link("http://localhost:8501/inside-a-head?head=L0+H1")
    with pytest.raises(ImportError, match="from_link is gone"):
        from selfattn.notebook import from_link  # noqa: F401
    assert not hasattr(notebook, "to_link")


@pytest.mark.parametrize("name", ["swaps", "brought_in"])
def test_swaps_are_refused_with_the_remedy(name):
    with pytest.raises(ImportError, match=f"{name} is gone, with the swaps of heads. Call hidden_words, or removals"):
        getattr(notebook, name)


def test_a_word_that_is_missing_is_named(encoder):
    with pytest.raises(TextError, match=r"'loan' is not a word of 'The bank of the river\.'"):
        notebook.removals(encoder, *PAIR, word="loan")
    with pytest.raises(TextError, match="No word stands in both"):
        notebook.removals(encoder, "One.", "Two!")


def test_what_a_notebook_shows_of_an_object_is_escaped(encoder):
    html = encoder.encode("A <b> & bank.")._repr_html_()
    assert "<td>[CLS]</td><td>a</td><td>&lt;</td><td>b</td><td>&gt;</td><td>&amp;</td><td>bank</td>" in html
    assert "<b>" not in html and "Encoding of &#x27;A &lt;b&gt; &amp; bank.&#x27;: 9 tokens" in html
    report = HiddenWordsReport.__new__(HiddenWordsReport)
    tables = {"words": pd.DataFrame({"layer": [0, 1, 1], "<i>": [0, 0, 1]})}
    vars(report).update(dict.fromkeys(of.name for of in fields(report)) | tables)
    assert "<tr><td>words</td><td>3 rows</td><td>layer, &lt;i&gt;</td></tr>" in report._repr_html_()
