"""Test classification heads, and compare their logits with those of the transformers model."""

import pytest
import torch
import transformers
from transformers import AutoConfig, AutoModelForSequenceClassification, pipeline

from selfattn import load_encoder
from selfattn.analysis.explaining import explain
from selfattn.encoders import classification
from selfattn.encoders.classification import load_class_head
from selfattn.encoders.families import FAMILIES, fill, save_tiny
from selfattn.encoders.heads_on_top import NoHead
from selfattn.encoders.masked_lm import load_masked_head
from selfattn.numbers import decimal
from selfattn.views.predictions import class_question, first_asked
from tests.encoders.test_loading import change_config, change_weights

pytestmark = pytest.mark.slow

CLASSES = ("NEGATIVE", "neutral", "POSITIVE")
TEXT = "The bank of the river was muddy."


@pytest.fixture
def folder(tmp_path):
    """Return a function that saves and loads a tiny classifier."""

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


def test_head_finds_class_by_name_or_number(folder):
    head = load_class_head(folder())
    assert [head.number(name) for name in ("POSITIVE", "positive", 2, "1", "Neutral")] == [2, 2, 2, 1, 1]
    with pytest.raises(ValueError, match=r"tiny has no class 'good'\. Choose one of NEGATIVE, neutral, POSITIVE"):
        head.number("good")
    with pytest.raises(ValueError, match="no class '3'"):
        head.number(3)
    two = load_class_head(folder(classes=("A", "a", "B")))  # equal but for case
    assert [two.number(name) for name in ("A", "a", "b")] == [0, 1, 2]


ONE_OUTPUT, MULTI, REGRESSION = ("RISK",), "multi_label_classification", "regression"


@pytest.mark.parametrize(
    ("name", "classes", "changes", "unit"),
    [
        ("BERT", CLASSES, {}, "probability"),
        ("RoBERTa", CLASSES, {"problem_type": "single_label_classification"}, "probability"),
        ("DistilBERT", CLASSES, {"problem_type": MULTI}, "probability"),
        ("ELECTRA", ONE_OUTPUT, {}, "probability"),
        ("ALBERT", ONE_OUTPUT, {"problem_type": MULTI}, "probability"),
        ("MPNet", ONE_OUTPUT, {"problem_type": REGRESSION}, "score"),
        ("DeBERTa-v3", CLASSES, {"problem_type": REGRESSION}, "score"),
        ("ModernBERT", CLASSES, {"classifier_pooling": "mean"}, "probability"),
        ("ModernBERT", ONE_OUTPUT, {"problem_type": REGRESSION, "classifier_pooling": "cls"}, "score"),
        ("XLM-R", ("A", "A", "B"), {}, "probability"),
        ("RoFormer", CLASSES, {"problem_type": MULTI}, "probability"),
        ("MegatronBERT", CLASSES[:2], {"problem_type": REGRESSION}, "score"),
    ],
)
def test_answers_equal_outputs_of_transformers_pipeline(name, classes, changes, unit, tmp_path):
    folder = save_tiny(FAMILIES[name], tmp_path / "tiny", classes=classes)
    change_config(folder, **changes)
    encoder = load_encoder(folder)
    head = load_class_head(encoder)
    expected = pipeline("text-classification", str(folder), device="cpu", top_k=None)([TEXT])[0]
    found = head.answers(head.logits(encoder.encode(TEXT).states[-1])).tolist()
    answers = sorted(zip(classes, found), key=lambda each: -each[1])
    assert [label for label, _ in answers] == [each["label"] for each in expected] and head.unit == unit
    assert [score for _, score in answers] == pytest.approx([each["score"] for each in expected], abs=1e-5)


def test_regression_gives_scores(tmp_path):
    folder = save_tiny(FAMILIES["BERT"], tmp_path / "tiny", classes=CLASSES)
    change_config(folder, problem_type=REGRESSION)
    encoder = load_encoder(folder)
    head, sentence = load_class_head(encoder), encoder.encode(TEXT)
    question = class_question(head, sentence, "neutral")
    expected = whole(encoder)
    order = expected.argsort(descending=True).tolist()
    assert question.answers["score"].tolist() == pytest.approx(expected[order].tolist(), abs=1e-5)
    assert question.answer.startswith(f"{CLASSES[order[0]]} {decimal(float(expected[order[0]]))}, ")
    assert question.what == "the score of neutral"
    found = explain(encoder, sentence, question.asked(sentence), heads=())
    assert found.number == pytest.approx(float(expected[1]), abs=1e-5)


@pytest.mark.parametrize("labels", [{"1": "A", "2": "B", "3": "C"}, {"0": "A", "2": "B", "3": "C"}])
def test_wrong_class_numbers_are_refused(folder, labels):
    message = rf"the keys of id2label in config\.json are {', '.join(labels)}, expected 0 to 2"
    with pytest.raises(NoHead, match=message):
        load_class_head(folder({"id2label": labels, "label2id": None}))


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        (("A", "B", "A"), ("A (class 0)", "B", "A (class 2)")),
        (("A ", "A", "A (class 0)"), ("A (class 0) (class 0)", "A (class 1)", "A (class 0) (class 2)")),
        (("1", "2", "0"), ("1", "2", "0")),  # each name is the number of another class
    ],
)
def test_equal_class_names_get_different_labels(folder, classes, labels):
    encoder = folder(classes=classes)
    head, sentence = load_class_head(encoder), encoder.encode(TEXT)
    assert head.labels == labels
    for number, label in enumerate(labels):
        question = class_question(head, sentence, label)
        assert question.what == f"the margin of {label}" and question.asked(sentence).label == number
        assert head.number(label) == head.number(number) == number
        probability = question.answers.set_index("class")["probability"][label]
        assert probability == pytest.approx(float(whole(encoder).softmax(-1)[number]), abs=1e-5)


def saved_as(architecture, name, folder):
    """Save and load a tiny model of the class `architecture`."""
    save_tiny(FAMILIES[name], folder)
    model = getattr(transformers, architecture)(AutoConfig.from_pretrained(folder))
    fill(model, 0, FAMILIES[name].spread)
    model.save_pretrained(folder)
    return load_encoder(folder)


@pytest.mark.parametrize(
    ("architecture", "name", "task"),
    [
        # Older versions of selfattn took the heads of the first two models for classification heads.
        ("ModernBertForQuestionAnswering", "ModernBERT", "question answering"),
        ("XLMForMultipleChoice", "XLM", "multiple choice"),
        ("DistilBertForQuestionAnswering", "DistilBERT", "question answering"),
        ("ElectraForPreTraining", "ELECTRA", "pretraining"),
        ("XLNetLMHeadModel", "XLNet", "language modelling"),
    ],
)
def test_error_names_task_of_unsupported_head(architecture, name, task, tmp_path):
    encoder = saved_as(architecture, name, tmp_path / "tiny")
    carried = rf"its checkpoint has a head for {task} \({architecture}\), which selfattn doesn't show yet\."
    for load, head in ((load_class_head, "classification head"), (load_masked_head, "masked-language head")):
        with pytest.raises(NoHead, match=f"tiny has no {head}: {carried}"):
            load(encoder)
    assert first_asked(encoder, gap=False) == "similarity"


def test_pretraining_head_loads_as_masked_lm_head(tmp_path):
    encoder = saved_as("BertForPreTraining", "BERT", tmp_path / "tiny")
    with pytest.raises(NoHead, match=r"has a head for pretraining \(BertForPreTraining\)\. distilbert"):
        load_class_head(encoder)
    assert first_asked(encoder, gap=False) == "gap" and load_masked_head(encoder).mask_token == "[MASK]"


@pytest.mark.parametrize(
    ("architectures", "message"),
    [
        (None, r"config\.json has no \"architectures\"\. Add the class"),
        ([], r"config\.json has no \"architectures\""),
        (["BertModel"], "its checkpoint has only the encoder"),
        ([5], "names the architecture 5"),
        (["BertMoodModel"], "names the architecture BertMoodModel, which transformers doesn't have"),
    ],
)
def test_error_about_missing_head_quotes_architecture(folder, architectures, message):
    with pytest.raises(NoHead, match=f"tiny has no classification head: .*{message}"):
        load_class_head(folder({"architectures": architectures}))


def test_encoder_without_classification_head_is_refused(encoder, tmp_path):
    for each in (encoder, load_encoder(save_tiny(FAMILIES["T5 (encoder half)"], tmp_path))):
        with pytest.raises(NoHead, match=r"no classification head: its checkpoint has only the encoder\. distilbert"):
            load_class_head(each)


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
        (without_pooler, r"tiny lacks 2 weights of its classification head \(first: bert\.pooler\.dense\.bias\)"),
        (of_two_classes, r"tiny's classification head can't be read: the shapes of its weights don't match"),
        (with_nan, "classification head of tiny computes NaN or infinity"),
    ],
)
def test_wrong_weights_of_classification_head_are_refused(folder, weights, message):
    with pytest.raises(NoHead, match=message):
        load_class_head(folder(weights=weights))


def test_head_with_inputs_besides_hidden_states_is_refused(tmp_path):
    encoder = load_encoder(str(save_tiny(FAMILIES["LUKE"], tmp_path / "luke", classes=CLASSES)))
    with pytest.raises(NoHead, match="luke's classification head needs more than the last hidden states"):
        load_class_head(encoder)


def test_head_with_wrong_logits_is_refused(folder, monkeypatch):
    take_out = classification.take_encoder_out

    def other_pooler(model):
        model.bert.pooler.dense.bias.data += 0.01
        return take_out(model)

    monkeypatch.setattr(classification, "take_encoder_out", other_pooler)
    with pytest.raises(NoHead, match=r"its logits, .* differ from .* by 0\.0\d+\. Expected at most 1e-05"):
        load_class_head(folder())
