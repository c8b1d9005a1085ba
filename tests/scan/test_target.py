"""Test `selfattn scan --target`."""

import json
from pathlib import Path

import pandas as pd
import pytest
import torch
from transformers import AutoModelForSequenceClassification

from selfattn import load_encoder
from selfattn.analysis.targets import class_score
from selfattn.encoders.classification import load_class_head
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.scan.__main__ import main
from selfattn.senses import over_sentences

pytestmark = pytest.mark.slow

TEXTS = ["The river was muddy.", "The bank approved the loan.", "She sat by the muddy river."]


@pytest.fixture
def classifier(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return str(save_tiny(FAMILIES["DistilBERT"], tmp_path / "tiny", classes=("BAD", "GOOD")))


def test_command_writes_same_tables_as_python_call(classifier, tmp_path, capsys):
    rows = "".join(f"7;{text}\n" for text in (*TEXTS, TEXTS[0], '"broken'))
    (tmp_path / "in.csv").write_text(f"sep=;\nNo;TEXT \n;\n{rows}")
    asked = ["in.csv", "--output", "out", "--model", classifier, "--target", "class=good", "--max-rejects", "1"]
    assert main(asked) == 0
    encoder = load_encoder(classifier)
    report = over_sentences(encoder, pd.DataFrame({"sentence": TEXTS}), class_score(load_class_head(encoder), "GOOD"))
    for name in ("words", "heads", "sentences"):
        found = pd.read_csv(f"out/{name}.csv")
        pd.testing.assert_frame_equal(found, getattr(report, name), check_dtype=False, atol=1e-6)
    rejects = pd.read_csv("out/rejects.csv")
    assert (
        rejects["line"].tolist() == [7, 8] and "same sentence" in rejects["reason"][0] and "CSV" in rejects["reason"][1]
    )
    about = json.loads((tmp_path / "out/target.json").read_text())
    assert (about["target"], about["digest"], about["sentences"]) == ("class=good", encoder.digest, 3)
    assert about["content"] == encoder.content
    assert "3 text(s), 2 rejected" in capsys.readouterr().err


def test_second_text_is_read_from_pair_column(classifier):
    pairs = [("Was it muddy?", TEXTS[0]), ("Who sat?", TEXTS[2]), ("Who sat?", TEXTS[0])]
    rows = [json.dumps({"text": query, "pair": document}) for query, document in (*pairs, pairs[0])]
    Path("in.jsonl").write_text("\n".join([*rows, '{"text": "Rain.", "pair": 7}']))
    asked = ["in.jsonl", "--output", "out", "--model", classifier, "--target", "class=GOOD", "--max-rejects", "1"]
    assert main(asked) == 0
    sentences, words = pd.read_csv("out/sentences.csv"), pd.read_csv("out/words.csv")
    assert list(zip(sentences["sentence"], sentences["pair"])) == pairs
    encoder = load_encoder(classifier)
    model = AutoModelForSequenceClassification.from_pretrained(classifier)
    with torch.no_grad():
        logits = [model(**encoder.inputs([encoder.tokenize(*pair)])).logits[0] for pair in pairs]
    assert sentences["number"].tolist() == pytest.approx([float(each[1] - each[0]) for each in logits], abs=1e-5)
    counts = words.set_index(["word", "text"])["n"]
    assert (counts["sat", "sentence"], counts["sat", "pair"], counts["muddy", "pair"]) == (2, 1, 3)
    rejects = pd.read_csv("out/rejects.csv")["reason"]
    assert "same sentence" in rejects[0] and len(rejects) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "class=ugly"], "tiny has no class 'ugly'. Choose one of BAD, GOOD."),
        (["--target", "good"], "--target must be class=NAME or similarity=TEXT, got 'good'"),
        (["--target", "similarity=Rain fell."], "tiny is not a sentence embedder"),
        (["--target", "class=GOOD", "--sources"], "--target measures whole texts. Leave out"),
    ],
)
def test_scan_with_wrong_target_writes_nothing(classifier, tmp_path, capsys, options, message):
    (tmp_path / "in.txt").write_text("\n".join(TEXTS))
    assert main(["in.txt", "--output", "out", "--model", classifier, *options]) == 2
    assert message in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_output_folder_with_files_is_refused(classifier, tmp_path, capsys):
    (tmp_path / "in.txt").write_text("\n".join(TEXTS))
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("mine")
    assert main(["in.txt", "--output", "out", "--model", classifier, "--target", "class=GOOD"]) == 2
    assert "out is not an empty folder" in capsys.readouterr().err and len(list((tmp_path / "out").iterdir())) == 1
