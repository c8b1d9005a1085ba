"""Test the panel that shows the effects of hiding a long text's sentences and words."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from selfattn import numbers
from selfattn.analysis.sentences import sentences_of
from selfattn.panel import Look
from selfattn.views.explained import lost
from selfattn.views.predictions import Question, words
from tests.charts.scene import drawn
from tests.small_reports import NAN, explained

TEXT = "We sat. It rained. She ran home."


@pytest.fixture
def hidden(encoder):
    """Return an explanation of three sentences: only the effect of hiding the first one exceeds the noise level."""
    tokens = encoder.tokenize(TEXT)
    parts = sentences_of(tokens)
    found = explained((0.1, -0.3, 0.2, -0.4, 0.05, 0.1, 0.0))
    return replace(
        found, sentence=tokens, target=SimpleNamespace(positions=range(12)), words=(*parts[0].words, *parts[2].words),
        sentences=parts, by_sentence=torch.tensor([-0.5, 0.01, 0.2]), level=torch.tensor([0.25] * 3),
    )  # fmt: skip


def shown(*rows, answer="", whole=None):
    asked = [
        Question(found.sentence, None, ("class", 1), "", "the score", numbers.change, where=where, whole=whole)
        for where, found in rows
    ]
    return words(dict(zip(asked, (found for _, found in rows))), answer)


def test_finding_names_sentence_with_effect_above_noise(hidden):
    panel = shown(("", hidden), answer="Score 0.80.")
    assert panel.finding == panel.live.data["finding"] == 'Hide "We sat.", and the score changes by −0.50.'
    assert panel.note == 'Score 0.80. In this sentence, "sat" has the largest effect: −0.30.' and panel.live.data[
        "opened"
    ] == [0, 0]
    (row,) = panel.live.data["rows"]
    assert row["said"] == "change of the score when a word or sentence is hidden"
    assert [(each["text"], each["kind"], each["depth"], each["level"]) for each in row["words"]] == [
        ("We sat.", "named", -100, 50), ("It rained.", "sentence", 2, 50), ("She ran home.", "sentence", 40, 50),
    ]  # fmt: skip
    places = [(each["start"], each["stop"], each["gap"]) for each in row["words"]]
    assert places == [(0, 3, False), (3, 6, True), (6, 10, True)]
    assert (row["read"], row["tokens"]) == (10, 10)
    first, none, last = (each["words"] for each in row["words"])
    assert [word["number"] for word in first] == ["+0.10", "−0.30", "+0.20"] and none == []
    assert [word["number"] for word in last] == [""] * 4 and last[0]["depth"] == -100  # shown without numbers
    tips = [each["tip"] for each in row["words"]]
    assert tips[0] == "Sentence 1 of 3: if it is hidden, the score changes by −0.50. Noise level 0.25."
    assert tips[1].endswith("Noise level 0.25. The effects of single words were not measured.")
    assert tips[2].endswith(
        "Noise level 0.25. The sentence's effect is below the noise level, so the words' effects are not printed."
    )
    assert panel.tables["sentences"]["named"].tolist() == [True, False, False]
    assert panel.tables["words"]["effect"].notna().sum() == 7


def test_sentence_with_largest_effect_is_opened(encoder, hidden):
    short = encoder.tokenize("We sat.")
    more = replace(explained(), sentence=short, words=short.words, target=hidden.target)
    panel = shown((" in A", replace(hidden, level=torch.tensor([0.15] * 3))), (" in B", more))
    assert (panel.name, panel.finding) == ("sentences", 'Hide "We sat." in A, and the score changes by −0.50.')
    data = panel.live.data
    assert data["opened"] == [0, 0] and [each["kind"] for each in data["rows"][0]["words"]] == [
        "named",
        "sentence",
        "named",
    ]
    assert data["legend"].startswith(
        "Brown: the score falls without the sentence. Teal: the score rises. Grey band: the sentence's noise level."
    )
    first = hidden.sentences[0]
    for text, quoted in (("x" * 70, "x" * 70), ("x" * 71, "x" * 66 + " ...")):
        named = replace(hidden, sentences=[replace(first, text=text), *hidden.sentences[1:]])
        assert shown(("", named)).finding == f'Hide "{quoted}", and the score changes by −0.50.'
    assert shown(("", replace(hidden, words=hidden.words[:1], effect=hidden.effect[:1]))).note == ""
    two = encoder.tokenize(TEXT, TEXT)
    sentences = sentences_of(two)
    found = replace(hidden, sentence=two, words=sentences[1].words, sentences=sentences, effect=torch.tensor([0.1, -0.2, 0.0]),
                    by_sentence=torch.tensor([-0.5, 0.01, 0.2] * 2), level=torch.tensor([0.25] * 6))  # fmt: skip
    rows = shown(("", found)).live.data["rows"]
    assert [[each["text"] for each in row["words"]] for row in rows] == [["We sat.", "It rained.", "She ran home."]] * 2


def test_finding_ignores_effects_below_noise(hidden):
    panel = shown((" in A", replace(hidden, level=torch.tensor([0.6] * 3))))
    assert panel.finding == "No sentence has a larger effect than an equally long random set of the text's words."
    assert panel.note == "" and "opened" not in panel.live.data
    (row,) = panel.live.data["rows"]
    assert row["said"].endswith("hidden in A")
    assert not any(word["number"] for each in row["words"] for word in each["words"])


def test_query_and_document_have_separate_rows(encoder, hidden):
    tokens = encoder.tokenize("Who sat", TEXT)
    pair = replace(
        hidden, sentence=tokens, sentences=sentences_of(tokens), by_sentence=torch.tensor([-2.0, -0.5, 0.1, NAN]),
        level=torch.tensor([NAN, 0.25, 0.25, 0.25]), words=tokens.words[:2], effect=torch.tensor([-0.1, 0.4]),
    )  # fmt: skip
    panel = shown((" in document 1", pair), (" in document 2", pair))
    # The first text, the query, has a noise level of NaN, so the finding doesn't name it, although its effect is largest.
    assert panel.finding == 'Hide "We sat." in document 1, and the score changes by −0.50.'
    rows = panel.live.data["rows"]
    assert [row["said"].partition("hidden in ")[2] for row in rows] == [
        f"document {n} ({part})" for n in (1, 2) for part in ("query", "document")
    ]
    query, document = rows[:2]
    assert [word["number"] for word in query["words"]] == ["−0.10", "+0.40"] and "read" not in query
    assert document["words"][0]["start"] == 0 and document["words"][2]["depth"] == 0
    assert panel.live.data["opened"] in ([1, 0], [3, 0])


def test_panel_reports_that_text_was_cut(encoder, hidden):
    whole = encoder.tokenize(f"{TEXT} Then we all slept.")
    read = whole.cut(len(hidden.sentence.ids))
    assert lost("mine", whole, read, " of B") == (
        'As a sentence embedder, mine reads 12 of the 17 tokens of B. The text is cut at "Then" (word 11 of 15), so '
        "33\u00a0% of the words aren't read."
    )
    (row,) = shown(("", hidden), whole=whole).live.data["rows"]
    assert (row["read"], row["tokens"]) == (10, 15)
    assert row["words"][-1] == {
        "text": "Then we all slept.", "gap": True, "kind": "lost", "depth": 0, "number": "", "tip": "never read",
    }  # fmt: skip


def test_picture_has_bars_and_noise_bands(encoder, hidden):
    whole = encoder.tokenize(f"{TEXT} Then we all slept.")
    spec = shown(("", hidden), whole=whole).picture(Look(dark=True, width=600))
    unread = [shown(("", hidden), whole=each).picture(Look())["datasets"]["rects"] for each in (whole, None)]
    assert [sum(rect.get("said") == "never read" for rect in rects) for rects in unread] == [1, 0]
    texts = [item["text"] for item in drawn(spec, "text")]
    assert texts[0] == 'Hide "We sat.", and the score changes by −0.50.' and {"rained.", "−0.50", "slept."} <= {*texts}
    bars = [each for each in spec["datasets"]["rects"] if each.get("what") == "sentence"]
    assert [each["value"] for each in bars] == [-1.0, 0.02, 0.4]
    assert [round(each["x2"] - each["x"]) for each in bars] == [120, 120, 160]
    assert round(bars[0]["y2"] - bars[0]["y"]) == 36
    bands = [each for each in spec["datasets"]["rects"] if each.get("what") == "level"]
    assert [(round(each["y2"] - each["y"]), round(each["y2"] - bars[0]["y"])) for each in bands] == [(36, 18)] * 3
