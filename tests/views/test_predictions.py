"""Test the panels of the page "Predictions"."""

from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest
import torch

from selfattn import numbers
from selfattn.panel import Look
from selfattn.views import predictions
from selfattn.views.predictions import Question
from tests.charts.scene import drawn
from tests.small_reports import NAN, explained

GOES = "The margin goes from 1.50 to 1.20 (a margin is a logit minus the largest other logit)"


def asked(where="", answers=None):
    table = pd.DataFrame() if answers is None else answers
    return Question(
        SimpleNamespace(pair=None), None, ("class", 1), "", "the margin", numbers.change, "", where, answers=table
    )


@pytest.fixture
def found(encoder):
    """Return the effects of hiding each word of "We sat ."."""
    sentence = encoder.tokenize("We sat .")
    return replace(explained(), sentence=sentence, words=sentence.words, target=SimpleNamespace(positions=()))


def test_finding_is_about_most_influential_word(found):
    """Here the full stop has the largest effect, but the finding never names punctuation."""
    panel = predictions.words({asked(" in A"): found, asked(" in B"): replace(found, effect=found.effect / 2)})
    assert panel.finding == 'Hide "sat" in A, and the margin changes by −0.30.'
    assert (
        panel.note == f"{GOES}: the label stays the likeliest. Hide all 3 words in A, and the margin changes by −0.90. "
        "The effects of single words sum to −0.68."
    )
    assert 'Hide "sat" in B, and the margin changes by −0.15.' in panel.method
    words = panel.live.data["rows"][0]["words"]
    assert [word["number"] for word in words] == ["+0.02", "−0.30", "−0.40"] and [w["depth"] for w in words] == [
        5,
        -75,
        -100,
    ]
    assert words[1]["tip"] == "sat: the margin changes by −0.30"


def test_words_with_small_effects_are_pale(found):
    both = {asked(" in A"): replace(found, number=-8.0), asked(" in B"): found}
    words = predictions.words(both).live.data["rows"][0]["words"]
    assert [word["depth"] for word in words] == [2, -38, -50]  # percent of 0.8, a tenth of the margin
    assert words[0]["number"] == ""  # under 5 % of 0.8
    none = predictions.words({asked(): replace(found, number=0.0, effect=found.effect * 0)})
    assert [word["depth"] for word in none.live.data["rows"][0]["words"]] == [0, 0, 0]


def test_note_states_margin_with_word_hidden(found):
    other = predictions.words({asked(): replace(found, number=0.25)})
    assert (
        "from 0.25 to −0.05 (a margin is a logit minus the largest other logit): the label is no longer the likeliest."
        in other.note
    )
    to_zero = predictions.words({asked(): replace(found, number=float(-found.effect[1]))})
    assert (
        "from 0.30 to 0.00 (a margin is a logit minus the largest other logit): the label is no longer the likeliest."
        in to_zero.note
    )
    for number in (0.0, -1.0):
        below = predictions.words({asked(): replace(found, number=number)})
        assert "(a margin is a logit minus the largest other logit). Hide all" in below.note


def test_two_documents_are_compared(encoder):
    first, second = (encoder.tokenize("Who sat", document) for document in ("We sat .", "We ran"))
    found = {}
    for where, sentence, number, effect in (
        (" in document 1", first, 2.0, (0.1, -0.5, -0.2, -0.9, -3.0)),
        (" in document 2", second, 1.5, (0.1, -0.1, -0.6, 0.2)),
    ):
        question = Question(sentence, None, ("class", 0), "", "the score", numbers.change, "", where)
        target = SimpleNamespace(positions=())
        found[question] = replace(
            explained(effect), sentence=sentence, words=sentence.words, number=number, target=target
        )
    frame = predictions.lead_frame(found).set_index(["where", "text"])["effect"]
    assert frame["query", "sat"] == pytest.approx(-0.4) and frame["document 2", "We"] == pytest.approx(0.6)
    assert ("document 1", ".") not in frame.index
    panel = predictions.words(found)
    assert (
        panel.finding
        == 'The score is 0.50 higher for document 1. With "sat" of document 1 hidden, the score is 0.40 higher for document 2.'
    )
    assert panel.note.startswith(
        'Hide "sat" in the document, and the score of document 1 changes by −0.90. The score goes from 2.00 to 1.10. Hide all 5 '
        "words of query and document 1, and the score changes by −0.90."
    )
    assert [row["said"].rsplit(" (")[1] for row in panel.live.data["rows"]] == ["query)", "document)"] * 2
    assert "highlight passages" in panel.method
    behind = predictions.words(dict(reversed(found.items()))).finding
    assert behind == (
        'The score is 0.50 higher for document 2. With "sat" of document 2 hidden, the score is 0.40 higher for document 1.'
    )
    further = {question: replace(each, number=2 * each.number) for question, each in found.items()}
    assert (
        '1.00 higher for document 1. With "sat" of document 1 hidden, the score is 0.10 higher for document 1.'
        in predictions.words(further).finding
    )
    alike = {
        question: replace(each, number=each.number + 0.4 * (each.number > 1.6)) for question, each in found.items()
    }
    assert (
        '0.90 higher for document 1. With "sat" of document 1 hidden, the score is the same for both documents.'
        in predictions.words(alike).finding
    )
    effects = (torch.tensor(each) for each in ((0.1, -0.5, -0.9, -0.45, -3.0), (0.1, -0.1, -0.1, 0.2)))
    shared = {question: replace(each, effect=effect) for (question, each), effect in zip(found.items(), effects)}
    assert 'With "sat" of document 1 hidden' in predictions.words(shared).finding  # "We" is in both documents
    ahead = {
        question: replace(each, effect=each.effect.abs() * sign)
        for (question, each), sign in zip(found.items(), (1, 0))
    }
    assert predictions.words(ahead).finding == "The score is 0.50 higher for document 1."
    for together, low in ((0.05, True), (0.31, False)):  # the largest effect is 3
        floor = {question: replace(each, together=together) for question, each in found.items()}
        said = (
            f"Without any word, the score is still about {2 + together:.2f}. "
            "Hiding a single word changes the score more than hiding all words does."
        )
        assert (said in predictions.words(floor).note) == low
    level = {question: replace(each, number=1.0) for question, each in found.items()}
    assert predictions.words(level).finding == "Both documents have the same score."


def test_words_outside_entities_show_no_tag(encoder):
    sentence = encoder.encode("Anna sat .")
    found = pd.DataFrame({"word": ["Anna", "sat", "."], "tag": ["B-PER", "O", "O"], "probability": [0.9, 0.8, 0.99]})
    panel = predictions.tags(sentence, found, chosen=1)
    assert panel.finding == "1 of 3 words has a tag." and panel.alt == '"Anna" B-PER'
    words = panel.live.data["rows"][0]["words"]
    assert [(word["number"], word["depth"]) for word in words] == [("B-PER", 90), ("", 0), ("", 0)]
    assert [word["kind"] for word in words] == ["word", "chosen", "punctuation"]
    assert words[1]["tip"] == "sat: probability 0.80 of O"
    other = predictions.tags(sentence, found.assign(tag=["B-LOC", "O", "O"]))
    assert other.live.data["key"] != panel.live.data["key"]
    assert predictions.most_certain(found) == 0
    assert predictions.most_certain(found.assign(tag="O")) == 2


def test_words_panel_handles_text_with_one_word_or_none(found, encoder):
    one = encoder.tokenize("sat")
    one = replace(explained((-0.3,)), sentence=one, words=one.words, target=found.target)
    assert predictions.words({asked(): one}).note == f"{GOES}: the label stays the likeliest."
    assert (
        predictions.words({asked(): replace(one, words=(), effect=one.effect[:0])}).finding
        == "There is no word to hide."
    )
    left = predictions.words({asked(): replace(found, together=NAN)})
    assert (
        left.note
        == f"{GOES}: the label stays the likeliest. Hiding all words at once is impossible, because no token would be left."
    )


def test_heads_panel_states_effect_and_noise(found):
    panel = predictions.heads(asked(" in A"), found, "L1 H1", "float32")
    assert panel.finding == "Remove L0 H1 in A, and the margin changes by −0.30."
    assert "Only 2 of 4 heads are actually removed, one at a time" in panel.method
    for key, bound in (("class", "0.078"), ("similarity", "0.006")):  # a log probability has 13 times the noise
        note = predictions.heads(replace(asked(), key=(key, 1)), found, "L1 H1", "bfloat16").note
        assert f"of up to {bound}. " in note
    with pytest.raises(ValueError, match="can't be removed"):
        predictions.heads(asked(), replace(found, notes=("They can't be removed.",)), "L0 H0", "float32")


def test_answers_are_drawn_as_bars():
    table = pd.DataFrame({"class": ["POSITIVE", "NEGATIVE"], "probability": [0.9, 0.1]})
    panel = predictions.answers(asked(answers=table))
    assert panel.finding == '"POSITIVE" has the largest probability: 0.90.'
    assert [item["text"] for item in drawn(panel.picture(Look()), "text")] == ["0.900", "0.100"]
    scores = predictions.answers(asked(answers=table.rename(columns={"probability": "score"})))
    assert scores.finding == '"POSITIVE" has the largest score: 0.90.'


def test_question_names_word_chosen_for_mask(monkeypatch):
    columns = {"id": [7, 5, 9, 2], "text": ["river", "sea", "lake", "pond"], "probability": [0.5, 0.25, 0.125, 0.0625]}
    head = SimpleNamespace(predictions=lambda masked, most: pd.DataFrame(columns))
    monkeypatch.setattr(predictions, "gap_word", lambda head, token: token)
    questions = [predictions.gap_question(head, None, row) for row in (0, 2, 9)]
    assert [(each.asked, each.what) for each in questions] == [
        (7, 'log p of "river"'), (9, 'log p of "lake"'), (2, 'log p of "pond"'),
    ]  # fmt: skip
    assert questions[0].answer == '"river" 0.50, "sea" 0.25, "lake" 0.13'
