"""Test `over_sentences` against `explain` on each sentence."""

import numpy as np
import pandas as pd
import pytest
import torch

from selfattn import load_encoder
from selfattn.analysis.explaining import explain
from selfattn.analysis.targets import class_score, similarity
from selfattn.encoders.classification import load_class_head
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.encoders.pooling import load_pooling
from selfattn.senses import over_sentences
from tests.encoders.test_pooling import embedder

TEXTS = [
    "The bank of the river was muddy.",
    "The river was muddy after rain.",
    "She sat by the river, and the bank was muddy.",
    "Rain in the morning.",
]


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    folder = save_tiny(FAMILIES["BERT"], tmp_path_factory.mktemp("classes") / "tiny", classes=("BAD", "GOOD"))
    return load_encoder(str(embedder(folder)))


@pytest.fixture(scope="module")
def asked(classifier):
    return class_score(load_class_head(classifier), "GOOD")


def mean_and_interval(values):
    draws = np.random.default_rng(0).multinomial(len(values), [1 / len(values)] * len(values), size=2000)
    means = [sum(k * value for k, value in zip(draw, values)) / len(values) for draw in draws]
    return [len(values), np.mean(values), *np.quantile(means, [0.025, 0.975])]


def test_tables_agree_with_function_explain_on_each_sentence(classifier, asked):
    frame = pd.DataFrame({"sentence": [*TEXTS, "", TEXTS[0]]}, index=list("abcdef"))
    report = over_sentences(classifier, frame, asked)
    found = [explain(classifier, s, asked(s), heads=classifier.all_heads) for s in map(classifier.tokenize, TEXTS)]
    effects = [dict(zip([word.text.casefold() for word in each.words], each.effect.tolist())) for each in found]
    words = report.words.set_index("word")
    muddy = mean_and_interval([each["muddy"] for each in effects[:3]])
    assert words.loc["muddy"].tolist() == pytest.approx(muddy, abs=1e-5)
    assert "." not in words.index and words.loc["sat", "n"] == 1 and words.loc["sat", ["low", "high"]].isna().all()
    each_the = [[e for w, e in zip(one.words, one.effect.tolist()) if w.text.casefold() == "the"] for one in found]
    assert words.loc["the"].tolist() == pytest.approx(mean_and_interval(list(map(np.mean, each_the))), abs=1e-5)
    several = report.words["n"] > 1
    assert several.iloc[: several.sum()].all() and report.words["effect"].abs()[several].is_monotonic_decreasing

    heads = report.heads.set_index(["layer", "head"])
    by_gradient = torch.stack([each.by_gradient for each in found]).mean(0)
    torch.testing.assert_close(torch.tensor(heads["by_gradient"].tolist()).reshape(3, 4), by_gradient)
    run = heads["effect"].notna()
    assert run.sum() == 8 and heads["by_gradient"].abs()[run].min() >= heads["by_gradient"].abs()[~run].max()
    for at in heads.index[run]:
        expected = mean_and_interval([float(each.heads[at]) for each in found])
        assert heads.loc[at, ["n", "effect", "low", "high"]].tolist() == pytest.approx(expected, abs=1e-5)

    assert report.sentences["row"].tolist() == list("abcd") and report.sentences["words"].tolist() == [8, 7, 12, 5]
    expected = [(each.number, float(each.effect.sum()), each.together) for each in found]
    np.testing.assert_allclose(report.sentences[["number", "sum", "together"]], expected, atol=1e-5)
    assert report.rejected["row"].tolist() == ["e", "f"] and report.note == ""
    assert ["empty" in report.rejected["reason"][0], "earlier row" in report.rejected["reason"][1]] == [True, True]


def test_single_sentence_has_no_confidence_interval(classifier):
    asked = similarity(classifier, load_pooling(classifier), TEXTS[3])
    report = over_sentences(classifier, pd.DataFrame({"sentence": [TEXTS[0]]}), asked)
    a, b = (encoding.states[-1].mean(0) for encoding in map(classifier.encode, (TEXTS[0], TEXTS[3])))
    assert report.sentences["number"].tolist() == pytest.approx([float(torch.cosine_similarity(a, b, dim=0))], abs=1e-6)
    assert report.words[["low", "high"]].isna().all(axis=None) and report.heads["low"].isna().all()


def test_list_or_series_is_accepted(classifier, asked):
    series = pd.Series(TEXTS[:2], index=["a", "b"], name="review")
    report = over_sentences(classifier, pd.DataFrame({"sentence": series}), asked)
    assert report.sentences["row"].tolist() == ["a", "b"]
    for texts, rows in ((series, ["a", "b"]), (TEXTS[:2], [0, 1]), (tuple(TEXTS[:2]), [0, 1])):
        found = over_sentences(classifier, texts, asked)
        pd.testing.assert_frame_equal(found.words, report.words)
        pd.testing.assert_frame_equal(found.sentences, report.sentences.assign(row=rows))
    with pytest.raises(ValueError, match="got one text"):
        over_sentences(classifier, TEXTS[0], asked)


def test_unusable_tables_are_refused(classifier, asked):
    with pytest.raises(ValueError, match=r"Expected a column 'sentence', got text\. Rename a column"):
        over_sentences(classifier, pd.DataFrame({"text": TEXTS}), asked)
    with pytest.raises(ValueError, match=r"No sentence can be used: The text is empty"):
        over_sentences(classifier, pd.DataFrame({"sentence": [""]}), asked)
    with pytest.raises(ValueError, match=r"No sentence can be used\. Give at least one"):
        over_sentences(classifier, pd.DataFrame({"sentence": []}), asked)
