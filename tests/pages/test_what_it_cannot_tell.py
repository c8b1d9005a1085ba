"""What it cannot tell: where nothing is stored, where nothing can be hidden, and where effects are noise."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.about.what_it_cannot_tell import counterexamples
from pages.about.what_it_cannot_tell.counterexamples import removal_example
from selfattn.analysis.removing import removal_effect
from selfattn.examples import PAIRS, labelled_sentences
from selfattn.numbers import change, effect, share
from selfattn.views.rounding import NOISE
from tests.pages.conftest import APP

pytestmark = pytest.mark.slow


def test_where_nothing_is_stored_a_few_sentences_are_asked(encoder, monkeypatch):
    asked = []
    monkeypatch.setattr(counterexamples, "hidden_words", lambda _, frame, progress: asked.append(frame) or "made")
    assert counterexamples.stored_or_measured(encoder, None) == "made"
    assert asked[0].groupby("word")["sense"].value_counts().tolist() == [4] * 6
    assert asked[0]["word"].unique().tolist() == labelled_sentences()["word"].unique()[:3].tolist()


def test_an_encoder_in_which_nothing_can_be_hidden_says_so(checkpoint, monkeypatch):
    monkeypatch.setattr("selfattn.dashboard.permissions.start_model", lambda: str(checkpoint("XLNet")))
    at = AppTest.from_file(str(APP.parent / "pages/about/what_it_cannot_tell/page.py"), default_timeout=180).run()
    assert any(element.value.startswith("No word can be hidden in this encoder: ") for element in at.text)


def test_effects_under_the_noise_count_for_nothing(encoder, monkeypatch):
    monkeypatch.setitem(NOISE, "float32", 0.005)
    monkeypatch.setattr(counterexamples, "cached_effect", lambda *of: -removal_effect(*of))  # the largest is below 0
    pair = PAIRS[0]
    places = [(text, pair.word) for text in (pair.first, pair.second)]
    effects = -removal_effect(encoder, *places)
    shown = effects[effects.abs() >= 0.005]
    text, largest = removal_example(encoder)
    assert largest.startswith(f"Largest single effect between the two senses: {effect(float(effects.abs().max()))}.")
    assert text.startswith(
        f"The effects of all heads, removed one at a time at every position, add up to {change(float(shown.sum()))};"
    )
    assert f"{share(float((shown < 0).sum()) / 72)} of the heads have a negative effect." in text
    assert f"by up to 0.005: {72 - len(shown)} of 72 heads lie under that" in text
