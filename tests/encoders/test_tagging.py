"""Compare the tags of words with those of transformers' pipeline."""

import pytest
import torch
from transformers import AutoModelForTokenClassification, pipeline

from selfattn import load_encoder
from selfattn.analysis.explaining import explain
from selfattn.analysis.targets import tag_score
from selfattn.encoders.classification import load_tag_head
from selfattn.encoders.families import FAMILIES, save_tiny

pytestmark = pytest.mark.slow

TAGS = ("O", "B-LOC", "I-LOC")
TEXT = "She waited by the riverbank after the rain."
SAMPLE = ["BERT", "RoBERTa", "ModernBERT", "DeBERTa-v3"]


@pytest.fixture
def tagger(tmp_path):
    """Return a function that saves and loads a tiny tagger."""

    def made(family):
        folder = str(save_tiny(FAMILIES[family], tmp_path / "tiny", tags=TAGS))
        model = AutoModelForTokenClassification.from_pretrained(folder, attn_implementation="eager").eval()
        return load_encoder(folder), model

    return made


def logits_by_transformers(encoder, model, sentence, hidden=()):
    inputs = encoder.inputs([sentence])
    inputs["attention_mask"][0, list(hidden)] = 0
    with torch.no_grad():
        return model(**inputs).logits[0]


@pytest.mark.parametrize("family", SAMPLE)
def test_tags_equal_those_of_pipeline(tagger, family):
    encoder, model = tagger(family)
    sentence = encoder.encode(TEXT)
    found = load_tag_head(encoder).tags(sentence)
    read = pipeline("token-classification", encoder.name, device="cpu", ignore_labels=[])(TEXT)
    by_token = {each["index"]: each for each in read}
    logits = logits_by_transformers(encoder, model, sentence)
    single = 0
    for word, row in zip(sentence.words, found.itertuples()):
        expected = logits[list(word.positions)].mean(dim=0).softmax(-1)
        assert row.tag == TAGS[int(expected.argmax())]
        assert row.probability == pytest.approx(float(expected.max()), abs=1e-5)
        if len(word.positions) == 1:
            single += 1
            theirs = by_token[word.start]
            assert row.tag == theirs["entity"] and row.probability == pytest.approx(theirs["score"], abs=1e-5)
    assert single or family in ("RoBERTa", "ModernBERT")  # these two split all words into several byte tokens


@pytest.mark.parametrize("family", SAMPLE)
def test_hiding_word_equals_masking_attention_to_its_tokens(tagger, family):
    encoder, model = tagger(family)
    sentence = encoder.encode(TEXT)
    word, other = sentence.words[4], sentence.words[1]
    target = tag_score(load_tag_head(encoder), word, "b-loc")(sentence)
    found = explain(encoder, sentence, target, heads=())
    assert word not in found.words and len(found.words) == len(sentence.words) - 1

    def margin(hidden=()):
        logits = logits_by_transformers(encoder, model, sentence, hidden)[list(word.positions)].mean(dim=0)
        return float(logits[1] - logits[[0, 2]].max())

    assert found.number == pytest.approx(margin(), abs=1e-5)
    at = found.words.index(other)
    assert float(found.effect[at]) == pytest.approx(margin(other.positions) - margin(), abs=1e-5)
