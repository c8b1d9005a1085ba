"""Test that stored reports are up to date."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from selfattn import stored_reports
from selfattn.examples import labelled_sentences
from selfattn.senses import hidden_words, separation
from selfattn.stored_reports import FOLDER, KINDS, MOST_TELLING, made_once, measured, store, stored
from tests.senses.conftest import tiny_table

ANEW = "The sentences, the weights or the method have changed: run `python -m selfattn.stored_reports` and commit its files."


@pytest.mark.parametrize("name", KINDS)
def test_stored_report_is_current(name, encoder):
    assert stored(name, encoder, KINDS[name].reads()) is not None, ANEW


def test_stored_results_of_one_word_equal_new_measurement(encoder):
    frame = KINDS["separation"].reads()
    found = stored("separation", encoder, frame).report
    live = separation(encoder, frame[frame["word"] == "bank"], shuffles=1, floor=False)
    bank = found.words[found.words["word"] == "bank"]
    pd.testing.assert_frame_equal(bank.reset_index(drop=True), live.words, check_dtype=False, atol=1e-6)
    sentences, expected = (report.sentences(3, 7).query("word == 'bank'") for report in (found, live))
    pd.testing.assert_frame_equal(sentences, expected, check_dtype=False)


@pytest.mark.long
@pytest.mark.parametrize("name", KINDS)
def test_stored_numbers_equal_new_measurement(name, encoder):
    kind = KINDS[name]
    found = stored(name, encoder, kind.reads()).report
    live = kind.make(encoder, kind.reads(), progress=lambda done, total: None)
    same(found, live, atol=1e-4)


def same(found, expected, atol):
    """Compare two reports. p-values may differ by 0.003 between processors."""
    for field in dataclasses.fields(expected):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        if isinstance(other, pd.DataFrame):
            counted, loosely = other.columns == "p_value", {"check_dtype": False, "check_index_type": False, "rtol": 0}
            for columns, near in ((counted, 3e-3), (~counted, atol)):
                pd.testing.assert_frame_equal(one.loc[:, columns], other.loc[:, columns], atol=near, **loosely)
        elif isinstance(other, np.ndarray):
            assert one.shape == other.shape and one.dtype == other.dtype
            np.testing.assert_allclose(one, other, atol=atol)
        else:
            assert one == (pytest.approx(other, abs=atol, nan_ok=True) if isinstance(other, float | tuple) else other)


@pytest.mark.slow
def test_stored_report_is_found_only_for_same_inputs(encoder, tmp_path, monkeypatch):
    labelled = KINDS["separation"].reads().query("word in ('bank', 'bat')")
    report = separation(encoder, labelled, shuffles=20, floor=False)
    store("separation", encoder, labelled, report, tmp_path)
    same(stored("separation", encoder, labelled, tmp_path).report, report, atol=1e-6)
    assert stored("separation", encoder, labelled.iloc[1:], tmp_path) is None
    assert stored("separation", encoder, labelled, tmp_path / "elsewhere") is None
    for changed in ({"digest": "other"}, {"configuration": "other"}, {"dtype": "bfloat16"}):
        assert stored("separation", dataclasses.replace(encoder, **changed), labelled, tmp_path) is None
    newer = dataclasses.replace(KINDS["separation"], version=KINDS["separation"].version + 1)
    monkeypatch.setitem(stored_reports.KINDS, "separation", newer)
    assert stored("separation", encoder, labelled, tmp_path) is None
    about = json.loads((tmp_path / encoder.content[:12] / "separation/about.json").read_text())
    assert set(about["libraries"]) == {"torch", "transformers", "numpy", "pandas"}


def test_stored_reports_are_small():
    sizes = [sum(file.stat().st_size for file in folder.rglob("*.*")) for folder in FOLDER.iterdir()]
    assert len(sizes) == 2 and max(sizes) < 1_000_000


def test_all_mpnet_base_v2_has_stored_reports():
    about = [json.loads(file.read_text()) for file in FOLDER.glob("*/hidden_words/about.json")]
    (second,) = [each for each in about if each["encoder"] == "all-mpnet-base-v2"]
    assert second["content"] == "73af991a599b62680403a5071d9f99f2986fe0dddc731bbb93b5845c53b8eb0b"
    folder = FOLDER / second["content"][:12]
    assert {each.name for each in folder.iterdir()} == {"hidden_words", "sense_means", "separation", "unrelated_pairs"}


@pytest.fixture
def two_words(monkeypatch, tmp_path):
    """Replace the built-in sentences by sentences with the word "riverbank" or "bank"."""
    table = tiny_table("water", "money").sort_values("word")
    monkeypatch.setattr(stored_reports, "labelled_sentences", lambda: table)
    monkeypatch.setattr(stored_reports, "MOST_TELLING", ("riverbank", "bank"))
    monkeypatch.setenv("SELFATTN_CACHE", str(tmp_path / "kept"))
    return table


@pytest.mark.slow
def test_interrupted_measurement_resumes(encoder_of, two_words, monkeypatch):
    encoder, counted, asked, make = encoder_of("BERT"), [], [], stored_reports.senses.hidden_words
    monkeypatch.setattr(
        stored_reports.senses, "hidden_words", lambda *given: asked.append(given[1]["word"].iloc[0]) or make(*given)
    )

    def stop(done, total):
        counted.append((done, total))
        if done == 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measured(encoder, stop)
    assert stored("hidden_words", encoder, two_words) is None and asked == ["riverbank", "bank"]
    found = measured(encoder, lambda *progress: counted.append(progress))
    assert asked == ["riverbank", "bank", "bank"]
    assert counted == [(n, 18) for n in [*range(1, 13), *range(10, 19)]]
    same(found, make(encoder, two_words), atol=1e-6)
    same(measured(encoder), found, atol=1e-6)
    assert len(asked) == 3 and stored("hidden_words", encoder, two_words) is not None
    kept = stored_reports.kept_folder() / encoder.content[:12]
    assert [each.name for each in kept.iterdir()] == ["hidden_words"]  # results of single words are deleted
    assert stored("hidden_words", dataclasses.replace(encoder, digest="another"), two_words) is None


@pytest.mark.slow
def test_unmeasurable_word_is_left_out(encoder_of, two_words, monkeypatch):
    alone = two_words[(two_words["word"] == "riverbank") | (two_words["sense"] == "water")]
    monkeypatch.setattr(stored_reports, "labelled_sentences", lambda: alone)
    found, live = measured(encoder_of("BERT")), hidden_words(encoder_of("BERT"), alone)
    assert found.words["word"].unique().tolist() == ["riverbank"]
    assert found.rejected["reason"].tolist() == live.rejected["reason"].tolist() != []
    monkeypatch.setattr(stored_reports, "labelled_sentences", lambda: alone[alone["word"] == "bank"])
    with pytest.raises(ValueError, match=r"None of the 4 rows can be used. First reason: 'bank' has no second sense"):
        measured(encoder_of("BERT"))


@pytest.mark.slow
def test_failure_to_store_measurement_gives_warning(encoder_of, two_words, tmp_path):
    encoder = encoder_of("BERT")
    (tmp_path / "kept").write_text("no folder")
    with pytest.warns(UserWarning, match="on bert can't be stored: Not a directory. Free some disk space"):
        found = measured(encoder)
    same(found, hidden_words(encoder, two_words), atol=1e-6)
    with pytest.warns(UserWarning, match="can't be stored"):
        assert len(made_once("sense_means", encoder).senses)
    assert (tmp_path / "kept").read_text() == "no folder"


@pytest.mark.parametrize("name", ["about.json", "means.csv.gz", "senses.csv.gz"])
@pytest.mark.parametrize("change", [lambda data: b"", lambda data: data[:-9], lambda data: b"\x1f\x8b" + bytes(40)])
def test_damaged_report_counts_as_missing(encoder, tmp_path, name, change):
    report = stored("sense_means", encoder, labelled_sentences()).report
    store("sense_means", encoder, labelled_sentences(), report, tmp_path)
    file = tmp_path / encoder.content[:12] / "sense_means" / name
    file.write_bytes(change(file.read_bytes()))
    assert stored("sense_means", encoder, labelled_sentences(), tmp_path) is None
    store("sense_means", encoder, labelled_sentences(), report, tmp_path)
    same(stored("sense_means", encoder, labelled_sentences(), tmp_path).report, report, atol=1e-6)


def test_failed_write_keeps_stored_report(encoder, tmp_path, monkeypatch):
    means = stored("sense_means", encoder, labelled_sentences()).report
    store("sense_means", encoder, labelled_sentences(), means, tmp_path)
    monkeypatch.setattr(np, "savetxt", lambda *given, **options: (_ for _ in ()).throw(OSError("no space")))
    with pytest.raises(OSError, match="no space"):
        store("sense_means", encoder, labelled_sentences(), means, tmp_path)
    same(stored("sense_means", encoder, labelled_sentences(), tmp_path).report, means, atol=1e-6)
    assert [each.name for each in (tmp_path / encoder.content[:12]).iterdir()] == ["sense_means"]


def test_words_are_listed_by_difference_of_accuracies(encoder):
    accuracy = stored("hidden_words", encoder, labelled_sentences()).report.accuracy
    by_word = accuracy[accuracy["word"] != "all"].pivot(index="word", columns="what", values="accuracy")
    difference = by_word["the word alone"] - by_word["any other alone"]
    assert tuple(difference.sort_values(ascending=False, kind="stable").index) == MOST_TELLING


@pytest.mark.slow
def test_command_stores_report(encoder, tmp_path, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr("selfattn.load_encoder", lambda name, device: asked.append(name) or encoder)
    monkeypatch.setattr(stored_reports, "FOLDER", tmp_path)
    assert stored_reports.main(["pronouns", "--encoder", "a folder"]) == 0 and asked == ["a folder"]
    (table,) = tmp_path.glob("*/pronouns/antecedent.csv.gz")
    shipped = FOLDER / table.relative_to(tmp_path)
    apart = [np.loadtxt(each, delimiter=",") for each in (table, shipped)]
    np.testing.assert_allclose(*apart, atol=1e-4)
    assert f"pronouns: stored in {table.parent}" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        stored_reports.main(["no such report"])
