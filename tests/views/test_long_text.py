"""Long texts: what is said and shown of their sentences, at each branch; what is cut off; and the picture."""

from dataclasses import replace

import pytest
import torch

from selfattn import numbers
from selfattn.analysis.hidden_sentences import HiddenSentences, sentences_of
from selfattn.panel import Look
from selfattn.views.long_text import Row, long_text, lost
from tests.charts.scene import drawn
from tests.small_reports import NAN, explained

TEXT = "We sat. It rained. She ran home."


@pytest.fixture
def hidden(encoder):
    """The first sentence is above its level, the last below; the words of both were hidden."""
    tokens = encoder.tokenize(TEXT)
    parts = sentences_of(tokens)
    words = (*parts[0].words, *parts[2].words)
    found = replace(explained((0.1, -0.3, 0.2, -0.4, 0.05, 0.1, 0.0)), sentence=tokens, words=words)
    return HiddenSentences(
        tokens=tokens, number=0.8, sentences=parts, effect=torch.tensor([-0.5, 0.01, 0.2]), level=torch.tensor([0.25] * 3),
        explained=found,
    )  # fmt: skip


def shown(*rows, answer=""):
    return long_text("the score", numbers.change, rows, answer)


def test_the_sentence_above_its_noise_level_is_named_and_its_word(hidden):
    panel = shown(Row("", hidden), answer="Score 0.80.")
    assert panel.finding == 'Hide "We sat.", and the score moves by −0.50.'
    assert panel.live.data["below"] == ["Score 0.80.", 'In it "sat" alone moves it most: −0.30.']
    (text,) = panel.live.data["texts"]
    assert [(each["kind"], each["effect"], each["level"]) for each in text["sentences"]] == [
        ("named", -1.0, 0.5), ("sentence", 0.02, 0.5), ("sentence", 0.4, 0.5),
    ]  # fmt: skip
    assert [(each["start"], each["stop"]) for each in text["sentences"]] == [(0, 3), (3, 6), (6, 10)]
    first, none, last = (each["words"] for each in text["sentences"])
    assert [word["number"] for word in first] == ["+0.10", "−0.30", "+0.20"] and none == []
    assert [word["number"] for word in last] == [""] * 4 and last[0]["depth"] == -100  # shown, not named
    tips = [each["tip"] for each in text["sentences"]]
    assert tips[0] == "Sentence 1 of 3: change of the score −0.50. Noise level 0.25."
    assert tips[2].endswith("Noise level 0.25. Within it, so no word is named.")
    assert panel.tables["sentences"]["named"].tolist() == [True, False, False] and len(panel.tables["words"]) == 7


def test_no_sentence_and_no_word_is_named_within_the_noise(hidden):
    panel = shown(Row(" in A", replace(hidden, level=torch.tensor([0.6] * 3))))
    assert panel.finding == "No sentence matters more than as many words from anywhere in the text."
    assert panel.live.data["below"] == [] and panel.live.data["texts"][0]["said"] == "A"
    assert not any(word["number"] for each in panel.live.data["texts"][0]["sentences"] for word in each["words"])


def test_a_nil_effect_names_nothing(hidden):
    nothing = replace(hidden, effect=torch.zeros(3), level=torch.zeros(3))
    assert shown(Row("", nothing)).finding.startswith("No sentence matters")


def test_a_query_and_a_document_are_two_texts(encoder, hidden):
    tokens = encoder.tokenize("Who sat", TEXT)
    parts = sentences_of(tokens)
    pair = replace(
        hidden, tokens=tokens, sentences=parts, effect=torch.tensor([-2.0, -0.5, 0.1, NAN]),
        level=torch.tensor([NAN, 0.25, 0.25, 0.25]), explained=replace(hidden.explained, words=(), effect=torch.zeros(0)),
    )  # fmt: skip
    panel = shown(Row(" in document 1", pair), Row(" in document 2", pair))
    assert panel.finding == 'Hide "We sat." in document 1, and the score moves by −0.50.'  # a query alone has no level
    said = [text["said"] for text in panel.live.data["texts"]]
    assert said == ["Query, document 1", "Document, document 1", "Query, document 2", "Document, document 2"]
    query, document = panel.live.data["texts"][:2]
    assert query["sentences"][0]["effect"] == -1 and query["sentences"][0]["level"] == 0
    assert document["sentences"][0]["start"] == 0 and document["sentences"][2]["effect"] == 0


def test_what_is_cut_off(encoder, hidden):
    whole = encoder.tokenize(f"{TEXT} Then we all slept.")
    read = whole.cut(len(hidden.tokens.ids))
    assert lost("mine", whole, read, " of B") == (
        'As a sentence embedder mine reads 12 of the 17 tokens of B. From "Then" on (word 11 of 15) nothing is read: '
        "33\u00a0% of the words."
    )
    (text,) = shown(Row("", hidden, whole)).live.data["texts"]
    assert (text["read"], text["tokens"]) == (10, 15)
    assert text["sentences"][-1] | {"tip": ""} == {
        "text": "Then we all slept.", "kind": "lost", "start": 10, "stop": 15, "effect": 0.0, "level": 0.0, "number": "",
        "tip": "", "words": [],
    }  # fmt: skip


def test_the_picture(encoder, hidden):
    whole = encoder.tokenize(f"{TEXT} Then we all slept.")
    spec = shown(Row("", hidden, whole)).picture(Look(dark=True, width=600))
    texts = [item["text"] for item in drawn(spec, "text")]
    assert texts[0] == 'Hide "We sat.", and the score moves by −0.50.' and {"rained.", "−0.50", "slept."} <= {*texts}
    bars = [each for each in spec["datasets"]["rects"] if each.get("what") == "sentence"]
    assert [round(each["value"], 2) for each in bars] == [-1.0, 0.02, 0.4]
    assert [round(each["x2"] - each["x"]) for each in bars] == [120, 120, 160]
    assert round(bars[0]["y2"] - bars[0]["y"]) == 36
