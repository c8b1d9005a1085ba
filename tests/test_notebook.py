"""Test that notebook charts show the encoder's numbers."""

import json
import re
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
import torch

from selfattn import Head, TextError, notebook
from selfattn.analysis.explaining import explain
from selfattn.analysis.removing import removal_effect
from selfattn.analysis.targets import Cosine
from selfattn.charts.theme import DARK, LIGHT
from selfattn.charts.vega import drawn_frame
from selfattn.examples import labelled_sentences
from selfattn.export.files import draw_svg
from selfattn.panel import Look
from selfattn.senses import HiddenWordsReport
from selfattn.views.kernel_row import word_row
from selfattn.views.kernel_view import kernel_panel
from tests.charts.scene import texts

PAIR = ("The bank of the river.", "The bank approved the loan.")
CRANES = ("Yesterday a crane lifted the beam.", "A crane waded slowly near the shore.")
WADED = ("The child waded across the brook.", "He waded through the report.", "She waded along the shore.")
PIECES = ((3, 4), (2, 3), (2, 3))  # the positions of "waded", which is two tokens


def drawn(chart):
    spec = chart.to_dict(validate=True)
    assert draw_svg(spec).count("<path") > 5
    return drawn_frame(spec)


def texts_of(chart):
    rows = [row for records in chart.to_dict()["datasets"].values() for row in records]
    return " | ".join(row["text"] for row in rows if "text" in row).replace("\u00a0", " ")


@pytest.mark.slow
def test_attention_chart_draws_weights_of_model(encoder):
    chart = notebook.attention(encoder, CRANES[0], 3, 7, pair="It rained.")
    cells = drawn(chart).sort_values(["row", "column"])
    weights = encoder.reference_weights(CRANES[0], "It rained.")[3, 7]
    np.testing.assert_allclose(cells["value"], weights.flatten(), atol=1e-5)
    assert texts(chart.to_dict(), "title-text") == ["L3 H7"]


@pytest.mark.slow
def test_chart_of_two_sentences_outlines_chosen_occurrence(encoder):
    twice = "She waded on and waded back."
    records = drawn(notebook.two_sentences(encoder, twice, WADED[1], "waded", at=(2, 1), layer=3, head=7))
    outlined = records[["low", "high"]].dropna()
    assert outlined.iloc[0].tolist() == [5.5, 7.5]  # the two tokens of the second occurrence
    cells = records[records["part"] == 1].sort_values(["row", "column"])
    np.testing.assert_allclose(cells["value"], encoder.reference_weights(twice)[3, 7].flatten(), atol=1e-5)
    with pytest.raises(TextError, match=r"occurs 2 times in .* no occurrence 3"):
        notebook.two_sentences(encoder, twice, WADED[1], "waded", at=(3, 1), layer=3, head=7)


def test_unknown_measure_is_refused(encoder_of):
    encoder = encoder_of("BERT")
    with pytest.raises(ValueError, match=r"measure must be one of entropy, .*, got 'swap, A from B'"):
        notebook.all_heads(encoder, PAIR[0], "swap, A from B", second=PAIR[1])
    with pytest.raises(ValueError, match=r"Expected a head from L0 H0 to L\d H\d, got 'L9 H0'"):
        notebook.all_heads(encoder, PAIR[0], chosen="L9 H0")


def test_chart_of_all_heads_shows_effects_of_removal(encoder_of):
    encoder, texts = encoder_of("BERT"), (*PAIR, "A bank of the river.")
    chart = notebook.all_heads(encoder, *texts[:1], "effect", second=texts[1], control=texts[2], word="bank").to_dict()
    places = [(text, encoder.encode(text).places("bank")[0].positions) for text in texts]
    effect, control = (removal_effect(encoder, places[0], other).flatten() for other in places[1:])
    rects = next(rows for rows in chart["datasets"].values() if any("effect" in row for row in rows))
    heads = [each for each in rects if "effect" in each]
    assert [each["effect"] for each in heads] == pytest.approx(effect.tolist(), abs=1e-6)
    assert [each["control"] for each in heads] == pytest.approx(control.tolist(), abs=1e-6)
    outlined = [each["stroke"] == LIGHT.ink for each in rects if "effect" not in each]
    assert outlined.index(True) == int(effect.argmax()) and sum(outlined) == 1


def test_steps_chart_has_first_token_as_query(encoder):
    chart = notebook.steps(encoder, *WADED[:2], "waded", layer=3, head=7).to_dict()
    rows = [word_row(encoder.encode(text).places("waded")[0], Head(3, 7), name) for name, text in zip("AB", WADED)]
    assert [row.query for row in rows] == [pieces[0] for pieces in PIECES[:2]]
    assert chart == kernel_panel(rows, head=Head(3, 7)).picture(Look())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        ("We sat on the bank of the river.", "We went to the bank for a loan.",
         ["up to 21 %: could be chance", "average of 12 other sentences"]),
        # In the first sentence, "jam" is far from both labelled senses.
        ("The printer had a paper jam again.", "They ate toast with jam.", ['"jam" in B', "100 %"]),
    ],
)  # fmt: skip
def test_hidden_words_chart_says_what_percentages_mean(encoder, first, second, says):
    chart = notebook.hidden_words(encoder, first, second, senses=labelled_sentences())
    assert all(text in texts_of(chart) for text in says)


def test_chart_names_gradient_if_effects_are_estimated(encoder_of):
    chart = notebook.hidden_words(encoder_of("XLM"), *PAIR)
    assert "by gradient" in texts_of(chart)


def test_notebook_functions_draw_in_given_theme(encoder_of, encoder):
    embedder, encoder = encoder, encoder_of("BERT")
    at, look = {"layer": 0, "head": 1, "theme": DARK}, {"theme": DARK}
    sentence = encoder.encode(PAIR[0])
    found = explain(encoder, sentence, Cosine(tuple(range(len(sentence.ids))), torch.ones(encoder.d_model)))
    figures = {
        "attention": notebook.attention(encoder, PAIR[0], **at),
        "explained_words": notebook.explained_words({"the cosine": found}, **look),
        "similar": notebook.similar(embedder, *PAIR, **look),
        "two_sentences": notebook.two_sentences(encoder, *PAIR, **at),
        "all_heads": notebook.all_heads(encoder, PAIR[0], **look),
        "steps": notebook.steps(encoder, *PAIR, **at),
        "hidden_words": notebook.hidden_words(encoder, *PAIR, **look),
    }
    public = {name for name, each in vars(notebook).items() if getattr(each, "__module__", "") == notebook.__name__}
    assert set(figures) == {name for name in public if name[0] != "_"} - {"chart"}
    light, dark = (set(re.findall("#[0-9a-f]{6}", str(theme))) for theme in (LIGHT, DARK))
    for name, spec in figures.items():
        colors = set(re.findall("#[0-9a-f]{6}", json.dumps(spec.to_dict(), default=float)))
        assert DARK.background in colors and not colors & (light - dark), name


@pytest.mark.parametrize("name", notebook.GONE)
def test_error_for_removed_function_states_replacement(name):
    with pytest.raises(ImportError, match=rf"selfattn\.notebook\.{name} is gone\. (Call|Take|Open) "):
        getattr(notebook, name)
    assert not hasattr(notebook, "to_link")


def test_error_states_missing_word(encoder):
    with pytest.raises(TextError, match=r"'loan' is not a word of 'The bank of the river\.'"):
        notebook.two_sentences(encoder, *PAIR, word="loan", layer=0, head=0)
    with pytest.raises(TextError, match="no word in common"):
        notebook.two_sentences(encoder, "One.", "Two!", layer=0, head=0)


def test_html_is_escaped(encoder):
    html = encoder.encode("A <b> & bank.")._repr_html_()
    assert "<td>[CLS]</td><td>a</td><td>&lt;</td><td>b</td><td>&gt;</td><td>&amp;</td><td>bank</td>" in html
    assert "<b>" not in html and "Encoding of &#x27;A &lt;b&gt; &amp; bank.&#x27;: 9 tokens" in html
    report = HiddenWordsReport.__new__(HiddenWordsReport)
    tables = {"words": pd.DataFrame({"layer": [0, 1, 1], "<i>": [0, 0, 1]})}
    vars(report).update(dict.fromkeys(of.name for of in fields(report)) | tables)
    assert "<tr><td>words</td><td>3 rows</td><td>layer, &lt;i&gt;</td></tr>" in report._repr_html_()
