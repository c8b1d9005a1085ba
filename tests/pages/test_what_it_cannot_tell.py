"""Test the page "What it cannot tell"."""

import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from selfattn import senses
from selfattn.dashboard import reports
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.examples import labelled_sentences
from selfattn.stored_reports import stored
from tests.pages.conftest import open_page

pytestmark = pytest.mark.slow

PAGE = "pages/about/what_it_cannot_tell.py"


def limits(at: AppTest) -> list[str]:
    return [element.value[5:] for element in at.markdown if element.value.startswith("#### ")]


def pictures(at: AppTest) -> int:
    return len([*at.get("vega_lite_chart"), *at.get("bidi_component")])


def longer(folder):
    """Save a tiny BERT that reads 512 tokens, enough for the page's text."""
    family = FAMILIES["BERT"]
    made = save_tiny(replace(family, settings={**family.settings, "max_position_embeddings": 512}), folder / "tiny")
    settings = made / "tokenizer_config.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"model_max_length": 512}))
    return made


def test_stored_reports_are_not_computed_again(monkeypatch):
    monkeypatch.setattr(senses, "hidden_words", lambda *_, **more: pytest.fail("the report was computed"))
    monkeypatch.setattr(senses, "separation", lambda *_, **more: pytest.fail("the report was computed"))
    at = open_page(PAGE)
    assert len(limits(at)) == pictures(at) == 6


def test_missing_reports_are_computed_from_few_sentences(encoder, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("selfattn.dashboard.permissions.start_model", lambda: str(longer(tmp_path)))

    for name in ("hidden_words", "separation"):
        report = stored(name, encoder, labelled_sentences()).report
        made = lambda own, few, name=name, report=report, **more: asked.append((name, few)) or report  # noqa: E731
        monkeypatch.setattr(senses, name, made)
    monkeypatch.setattr(reports, "stored", lambda *_: None)
    at = open_page(PAGE)
    assert [name for name, _ in asked] == ["hidden_words", "separation"] and pictures(at) == 6
    for _, frame in asked:
        assert frame.groupby("word")["sense"].value_counts().tolist() == [4] * 6
        assert frame["word"].unique().tolist() == labelled_sentences()["word"].unique()[:3].tolist()


def test_page_omits_counterexamples_if_hiding_is_impossible(checkpoint, monkeypatch):
    monkeypatch.setattr("selfattn.dashboard.permissions.start_model", lambda: str(checkpoint("XLNet")))
    at = open_page(PAGE)
    texts = [element.value for element in at.text]
    assert any(text.startswith("No word can be hidden in this encoder: ") for text in texts)
    assert any(text.startswith("Some counter-examples are missing, ") for text in texts)
    assert limits(at) == [
        "A large weight doesn't mean a large effect",
        "Correct arithmetic doesn't prove what a head means",
    ]


@pytest.mark.parametrize(("most", "without"), [(64, 2), (16, 5)])
def test_page_says_if_example_exceeds_token_limit(tmp_path, monkeypatch, most, without):
    family = FAMILIES["BERT"]
    folder = save_tiny(replace(family, settings={**family.settings, "max_position_embeddings": most}), tmp_path)
    monkeypatch.setattr("selfattn.dashboard.permissions.start_model", lambda: str(folder))
    at = open_page(PAGE)
    texts = [each.value for each in at.text if each.value.startswith("There is no counter-example for this encoder: ")]
    assert len(limits(at)) == pictures(at) + len(texts) == 6
    assert len(texts) == without and f"reads at most {most}" in " ".join(texts)
