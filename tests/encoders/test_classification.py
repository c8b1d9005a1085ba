"""The classification head of a folder: its classes, its logits beside the whole model's, and each refusal."""

import pytest
import torch
from transformers import AutoModelForSequenceClassification

from selfattn import load_encoder
from selfattn.encoders import classification
from selfattn.encoders.classification import load_class_head
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.encoders.heads_on_top import NoHead
from tests.encoders.test_loading import change_config, change_weights

pytestmark = pytest.mark.slow

CLASSES = ("NEGATIVE", "neutral", "POSITIVE")
TEXT = "The bank of the river was muddy."


@pytest.fixture
def folder(tmp_path):
    """folder(config={...}, weights=change) is a tiny BERT with a classification head, changed."""

    def made(config=None, weights=None, classes=CLASSES):
        path = save_tiny(FAMILIES["BERT"], tmp_path / "tiny", classes=classes)
        change_config(path, **(config or {}))
        change_weights(path, weights or bool)
        return load_encoder(str(path))

    return made


def whole(encoder, text=TEXT):
    model = AutoModelForSequenceClassification.from_pretrained(encoder.name, attn_implementation="eager").eval()
    with torch.no_grad():
        return model(**encoder.inputs([encoder.tokenize(text)])).logits[0]


def test_the_logits_and_probabilities_are_the_whole_models(folder):
    encoder = folder()
    head = load_class_head(encoder)
    logits = head.logits(encoder.encode(TEXT).states[-1])
    torch.testing.assert_close(logits, whole(encoder), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(head.probabilities(logits), whole(encoder).softmax(-1), atol=1e-5, rtol=1e-5)
    assert head.labels == CLASSES and head.exclusive


def test_classes_that_do_not_exclude_one_another_have_a_sigmoid_each(folder):
    encoder = folder({"problem_type": "multi_label_classification"})
    head = load_class_head(encoder)
    logits = head.logits(encoder.encode(TEXT).states[-1])
    torch.testing.assert_close(head.probabilities(logits), 1 / (1 + (-whole(encoder)).exp()), atol=1e-5, rtol=1e-5)
    assert not head.exclusive


def test_a_class_is_named_or_numbered(folder):
    head = load_class_head(folder())
    assert [head.number(name) for name in ("POSITIVE", "positive", 2, "1", "Neutral")] == [2, 2, 2, 1, 1]
    with pytest.raises(ValueError, match=r"Expected a class of tiny: NEGATIVE, neutral, POSITIVE; got 'good'"):
        head.number("good")
    with pytest.raises(ValueError, match="got '3'"):
        head.number(3)
    two = load_class_head(folder(classes=("A", "a", "B")))  # that differ in letter case alone
    assert [two.number(name) for name in ("A", "a", "b")] == [0, 1, 2]


def test_an_encoder_without_the_head_says_so(encoder, tmp_path):
    with pytest.raises(NoHead, match=r"no classification head: its checkpoint holds the encoder alone\. distilbert"):
        load_class_head(encoder)
    without_class = load_encoder(str(save_tiny(FAMILIES["T5 (encoder half)"], tmp_path)))
    with pytest.raises(NoHead, match="no classification head"):
        load_class_head(without_class)


def without_pooler(weights):
    for name in [name for name in weights if "pooler" in name]:
        del weights[name]


def of_two_classes(weights):
    weights["classifier.weight"] = weights["classifier.weight"][:2].clone()


def with_nan(weights):
    weights["classifier.bias"].fill_(torch.nan)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (without_pooler, "no classification head"),  # it would be random
        (of_two_classes, r"tiny's classification head can't be read: RuntimeError"),
        (with_nan, "classification head of tiny makes NaN or infinity"),
    ],
)
def test_weights_that_are_no_head(folder, weights, message):
    with pytest.raises(NoHead, match=message):
        load_class_head(folder(weights=weights))


def test_a_head_that_reads_more_than_states_is_refused(tmp_path):
    encoder = load_encoder(str(save_tiny(FAMILIES["LUKE"], tmp_path / "luke", classes=CLASSES)))
    with pytest.raises(NoHead, match="luke's classification head doesn't read last hidden states alone"):
        load_class_head(encoder)


def test_a_head_whose_logits_differ_from_the_whole_models_is_left_out(folder, monkeypatch):
    take_out = classification.take_encoder_out

    def other_pooler(model):
        model.bert.pooler.dense.bias.data += 0.01
        return take_out(model)

    monkeypatch.setattr(classification, "take_encoder_out", other_pooler)
    with pytest.raises(NoHead, match=r"its logits from last hidden states differ .* by 0\.0\d+ \(at most 1e-05"):
        load_class_head(folder())
