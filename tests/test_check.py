"""Test selfattn.check against plain loops, on hand-made data in the formats of RAW-C and CoarseWSD-20."""

from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
import torch

from selfattn import LoadError, check
from selfattn.check import coarse_wsd, raw_c
from tests.senses import plain_hiding

PAIRS = [
    ("bank", "The muddy bank waited.", "The loan bank waited.", False, "muddy", "loan", 1.0, 0.4),
    ("bank", "The muddy bank waited.", "It sat by the bank after rain.", False, "muddy", "rain", 2.0, 0.3),
    ("bank", "It sat by the bank after rain.", "The loan bank waited.", False, "rain", "loan", 1.5, 0.5),
    ("bank", "It sat by the bank after rain.", "It sat by the bank after loan.", False, "after", "loan", 0.5, 0.6),
    ("bank", "A morning bank waited.", "The rain bank waited.", True, "morning", "rain", 4.0, 0.1),
    ("bank", "The morning bank sat.", "The loan bank sat by rain.", False, "night", "loan", 0.0, 0.7),
    ("bank", "No word of it.", "The loan bank sat.", False, "no", "loan", 0.0, 0.7),
]  # fmt: skip
COLUMNS = "string sentence1 sentence2 same disambiguating_word1 disambiguating_word2 mean_relatedness distance_bert"


@pytest.fixture
def pairs():
    return pd.DataFrame(PAIRS, columns=COLUMNS.split())


@torch.no_grad()
def test_function_raw_c_agrees_with_plain_code(encoder_of, checkpoint, pairs):
    encoder, model = encoder_of("BERT"), plain_hiding.load(checkpoint("BERT"))
    report = raw_c(encoder, pairs)
    judged = [(PAIRS[at], side) for at in (0, 3, 5) for side in (0, 1)]
    judged.remove((PAIRS[5], 0))  # this sentence doesn't contain its marked word
    expected = []
    for (word, *texts, _, first, second, _, _), side in judged:
        row, other = (plain_hiding.placed(encoder, text, word) for text in (texts[side], texts[1 - side]))
        vectors, way = plain_hiding.vectors(model, row), plain_hiding.vectors(model, other).u
        way = way - vectors.u
        weights = plain_hiding.attended(model, row)
        marked = [text.casefold() for text in row.texts].index((first, second)[side])
        scores = [
            plain_hiding.shares(vectors.u, vectors.hidden, way), weights.mean(axis=(0, 1)), weights[-1].mean(axis=0),
            weights.max(axis=(0, 1)), plain_hiding.without_axis(model, row)["rollout"],
            plain_hiding.first_order(model, row, row.others) @ way,
        ]  # fmt: skip
        near = row.distance[row.named.index(marked)] == 1
        expected.append(
            [texts[side], near, 1 / len(row.named), *(plain_hiding.largest(row, each) == marked for each in scores)]
        )
    assert report.sentences.to_numpy().tolist() == expected
    numbers = np.array([line[2:] for line in expected], dtype=float)
    near = np.array([line[1] for line in expected])
    table = report.ways.set_index("way")
    assert table.index.tolist() == ["chance", *check.WAYS]
    for name, rows in (("every", near | True), ("next", near), ("apart", ~near)):
        assert table[name].tolist() == pytest.approx(numbers[rows].mean(axis=0).tolist())
    assert 0 < near.mean() < 1
    reasons = dict(report.rejected.itertuples(index=False))
    assert (
        "marked word 'night' once among the words around the target, found it 0 times"
        in reasons["The morning bank sat."]
    )
    assert "'bank' occurs 0 times" in reasons["No word of it."] and len(reasons) == 2


def test_correlation_with_human_judgements_matches_plain_code(encoder_of, pairs):
    encoder = encoder_of("BERT")
    found = raw_c(encoder, pairs).distances.set_index("of")["correlation"]
    cosines = []
    for _, *texts, _, _, _, _, _ in PAIRS[:6]:
        a, b = (encoder.encode(text) for text in texts)
        units = [each.vector(encoder.n_layers, each.places("bank")[0].positions) for each in (a, b)]
        cosines.append(1 - float(torch.cosine_similarity(*units, dim=0)))
    usable = pairs.iloc[:6]
    people = usable["mean_relatedness"]
    assert found[encoder.title] == pytest.approx(pd.Series(cosines).corr(people, method="spearman"))
    assert found["BERT-base, from the file"] == pytest.approx(usable["distance_bert"].corr(people, method="spearman"))


def test_unusable_tables_of_raw_c_are_refused(encoder_of, pairs):
    with pytest.raises(ValueError, match="RAW-C: same, string"):
        raw_c(encoder_of("BERT"), pairs.drop(columns=["same", "string"]))
    with pytest.raises(ValueError, match=r"None of the sentences can be used. .*'bank' occurs 0 times"):
        raw_c(encoder_of("BERT"), pairs.iloc[6:])


COARSE = {
    "train": [
        ("1\tthe bank of the river", "1"), ("5\train and the muddy river bank waited", "1"), ("1\ta bank approved a loan", "0"),
        ("3\tloan by the bank", "0"), ("0\tbank of the loan", "0"), (f"0\tbank {'river ' * 80}", "1"),
    ],
    "test": [("1\tthe bank and the rain", "1"), ("2\twaited the riverbank loan", "0"), ("0\tbank", "1")],
}  # fmt: skip


@pytest.fixture
def coarse(tmp_path):
    for word in ("bank", "riverbank"):
        (tmp_path / word).mkdir()
        for split, lines in COARSE.items():
            for kind, column in zip(("data", "gold"), zip(*lines)):
                (tmp_path / word / f"{split}.{kind}.txt").write_text("\n".join(column).replace("bank", word) + "\n")
    return tmp_path


def test_coarse_wsd_agrees_with_plain_loops(encoder_of, coarse):
    encoder = encoder_of("BERT")
    report = coarse_wsd(encoder, coarse)

    def vectors(line, word):
        number, text = line.replace("bank", word).split("\t")
        read = encoder.encode(text)
        (at,) = [each.positions for each in read.words if each.text == text.split()[int(number)]]
        layers = [layer[list(at)].mean(dim=0).numpy() for layer in read.hidden]
        return np.stack([*layers, np.sum(layers[-4:], axis=0)])

    for word in ("bank", "riverbank"):
        means = {}
        for sense in "01":
            mean = np.mean([vectors(line, word) for line, rows in COARSE["train"][:5] if rows == sense], axis=0)
            means[sense] = mean / np.linalg.norm(mean, axis=-1, keepdims=True)
        right = [
            ((means[rows] - means["10"[int(rows)]]) * vectors(line, word)).sum(axis=-1) > 0
            for line, rows in COARSE["test"]
        ]
        sums = [each.numpy() for _, each in check._vectors(encoder, coarse / word, "test", [])]
        np.testing.assert_allclose(sums, [vectors(line, word) for line, _ in COARSE["test"]], atol=1e-5)
        rows = report.words[report.words["word"] == word]
        assert rows["accuracy"].tolist() == pytest.approx(np.mean(right, axis=0).tolist()) and (rows["n"] == 3).all()
    both = report.words.pivot(index="layer", columns="word", values="accuracy").loc[report.layers["layer"]]
    assert report.layers["accuracy"].tolist() == pytest.approx(both.mean(axis=1).tolist())
    assert both.index.tolist() == ["embedding", *range(encoder.n_layers), "sum of the last four"]
    left_out = report.rejected[["word", "split", "row"]].to_numpy().tolist()
    assert left_out == [["bank", "train", 5], ["riverbank", "train", 5]]
    assert report.rejected["reason"].str.contains("tokens").all()


def test_random_sample_keeps_order_of_rows():
    senses = pd.Series(list("aabbbbab"), index=[0, 1, 2, 3, 5, 6, 7, 8])
    drawn = check._drawn(senses, 2)
    assert drawn == sorted(drawn) == check._drawn(senses, 2) and sorted(senses[drawn]) == ["a", "a", "b", "b"]
    assert check._drawn(senses, None) == check._drawn(senses, 9) == list(senses.index)
    assert len({tuple(check._drawn(pd.Series(list("ab" * n)), 2)) for n in range(4, 9)}) > 2  # samples differ


def test_coarse_wsd_limits_number_of_sentences(encoder_of, coarse):
    report = coarse_wsd(encoder_of("BERT"), coarse, most=1)
    assert (report.words["n"] == 2).all() and set(report.words["accuracy"]) <= {0.0, 0.5, 1.0}
    with pytest.raises(ValueError, match="most must be at least 1, got 0"):
        coarse_wsd(encoder_of("BERT"), coarse, most=0)


def test_command_prints_tables(encoder_of, pairs, coarse, tmp_path, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr("selfattn.load_encoder", lambda name: asked.append(name) or encoder_of("BERT"))
    pairs.to_csv(tmp_path / "pairs.csv")
    assert check.main(["rawc", str(tmp_path / "pairs.csv"), "--encoder", "a folder"]) == 0
    assert check.main(["coarsewsd", str(coarse)]) == 0
    printed = capsys.readouterr().out
    assert (
        "5 sentences; in 1 of them, the word that decides the sense is not beside the target word; rejected: 2."
        in printed
    )
    assert "0.940" in printed and "feature extraction" in printed and "sum of the last four" in printed
    assert asked == ["a folder", None]


def test_command_prints_errors(monkeypatch, tmp_path, encoder_of, capsys):
    monkeypatch.setattr("selfattn.load_encoder", lambda name: encoder_of("BERT"))
    assert check.main(["coarsewsd", str(tmp_path)]) == 2 and check.main(["rawc", str(tmp_path / "none.csv")]) == 2
    monkeypatch.setattr("selfattn.load_encoder", Mock(side_effect=LoadError("There is none.")))
    assert check.main(["rawc", "pairs.csv"]) == 2
    printed = capsys.readouterr().err
    assert "to contain a folder for each word" in printed and "none.csv" in printed and "There is none." in printed
