"""A cross-encoder's score equals that of sentence-transformers."""

import logging
from pathlib import Path

import pytest
import torch
from sentence_transformers import CrossEncoder
from torch.nn import Identity
from transformers import AutoModelForSequenceClassification

from selfattn import TextError, load_encoder
from selfattn.analysis.explaining import explain
from selfattn.analysis.targets import class_score
from selfattn.encoders.classification import load_class_head
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.encoders.heads_on_top import NoHead
from selfattn.numbers import decimal
from selfattn.views.predictions import class_question, first_asked
from tests.encoders.test_loading import change_config

pytestmark = pytest.mark.slow

QUERY, DOCUMENT = "Was the bank muddy?", "The bank of the river was muddy after the rain."
SAMPLE = ["BERT", "RoBERTa", "ModernBERT", "DeBERTa-v3"]


@pytest.fixture
def saved(tmp_path):
    """Return a function that saves a tiny CrossEncoder."""

    def made(family, classes=("LABEL_0",)):
        logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
        theirs = CrossEncoder(str(save_tiny(FAMILIES[family], tmp_path / "tiny", classes=classes)), device="cpu")
        theirs.save_pretrained(str(tmp_path / "reranker"))
        return str(tmp_path / "reranker"), CrossEncoder(str(tmp_path / "reranker"), device="cpu")

    return made


@pytest.mark.parametrize("family", SAMPLE)
def test_score_equals_that_of_sentence_transformers(saved, family):
    folder, theirs = saved(family)
    encoder = load_encoder(folder)
    head, sentence = load_class_head(encoder), encoder.encode(QUERY, DOCUMENT)
    logits = head.logits(sentence.states[-1])
    raw, activated = (theirs.predict([(QUERY, DOCUMENT)], **how).item() for how in ({"activation_fn": Identity()}, {}))
    assert float(logits[0]) == pytest.approx(raw, abs=1e-5)
    assert float(head.answers(logits)[0]) == pytest.approx(activated, abs=1e-5)


@pytest.mark.parametrize("family", SAMPLE)
def test_hiding_word_equals_zeroing_attention_mask(saved, family):
    folder, _ = saved(family)
    encoder = load_encoder(folder)
    sentence = encoder.tokenize(QUERY, DOCUMENT)
    found = explain(encoder, sentence, class_score(load_class_head(encoder), 0)(sentence), heads=())
    model = AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager").eval()
    for at in (1, len(found.words) - 2):
        word, inputs = found.words[at], encoder.inputs([sentence])
        with torch.no_grad():
            whole = model(**inputs).logits[0, 0]
            inputs["attention_mask"][0, list(word.positions)] = 0
            without = model(**inputs).logits[0, 0]
        assert float(found.effect[at]) == pytest.approx(float(without - whole), abs=1e-5)
    assert {sentence.segments[found.words[at].start] for at in (1, len(found.words) - 2)} == {0, 1}


def test_cross_encoder_with_several_labels_is_classifier(saved):
    folder, theirs = saved("BERT", ("contradiction", "entailment", "neutral"))
    encoder = load_encoder(folder)
    sentence = encoder.tokenize(QUERY, DOCUMENT)
    found = explain(encoder, sentence, class_score(load_class_head(encoder), "neutral")(sentence), heads=())
    raw = theirs.predict([(QUERY, DOCUMENT)], activation_fn=Identity())[0]
    assert found.number == pytest.approx(float(raw[2] - max(raw[:2])), abs=1e-5)
    asked = class_question(load_class_head(encoder), encoder.encode(QUERY, DOCUMENT), "neutral")
    assert asked.what == "the margin of neutral" and len(asked.answers) == 3
    assert first_asked(encoder, gap=False) == "class"


def test_cross_encoder_with_one_label_gives_score(saved):
    folder, theirs = saved("BERT")
    encoder = load_encoder(folder)
    head, raw = load_class_head(encoder), theirs.predict([(QUERY, DOCUMENT)], activation_fn=Identity()).item()
    sentence = encoder.encode(QUERY, DOCUMENT)
    asked, activated = (
        class_question(head, sentence, where=" in document 2"),
        theirs.predict([(QUERY, DOCUMENT)]).item(),
    )
    answer = f"Document 2: score {decimal(raw)} ({decimal(activated, 3)} after CrossEncoder's sigmoid)"
    assert (asked.answer, asked.what) == (answer, "the score")
    change_config(Path(folder), WHOLE, activation_fn="torch.nn.modules.linear.Identity")
    assert class_question(load_class_head(load_encoder(folder)), sentence).answer == f"score {decimal(raw)}"
    assert class_question(head, encoder.encode(QUERY)).what == "the logit of LABEL_0"
    assert first_asked(encoder, gap=False) == "pair"


# Settings files of sentence-transformers.
WHOLE, STEP = "config_sentence_transformers.json", "sentence_bert_config.json"


@pytest.mark.parametrize(
    ("file", "values", "message"),
    [
        (WHOLE, {"prompts": {"x": "the rain "}, "default_prompt_name": "x"}, "default_prompt_name = 'x'"),
        (STEP, {"do_lower_case": True}, "do_lower_case = 'True'"),
    ],
)
def test_unsupported_setting_is_refused(saved, file, values, message):
    folder, theirs = saved("RoBERTa")
    load_class_head(load_encoder(folder))
    change_config(Path(folder), file, **values)
    scores = [each.predict([(QUERY, DOCUMENT)]).item() for each in (theirs, CrossEncoder(folder, device="cpu"))]
    assert abs(scores[0] - scores[1]) > 1e-3
    with pytest.raises(
        NoHead, match=f"sentence-transformers. sets {message} in .*, a setting that selfattn doesn't support"
    ):
        load_class_head(load_encoder(folder))


def test_too_long_texts_are_refused(saved):
    folder, theirs = saved("BERT")
    theirs.max_seq_length = 12
    theirs.save_pretrained(folder)
    encoder = load_encoder(folder)
    assert len(encoder.tokenize(QUERY).ids) == 7
    with pytest.raises(TextError, match="reads at most 12"):
        encoder.tokenize(QUERY, DOCUMENT)
