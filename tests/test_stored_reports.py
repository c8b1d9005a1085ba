"""What is stored is what would be computed now: of these sentences, these weights and this method."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from selfattn import stored_reports
from selfattn.senses import separation
from selfattn.stored_reports import KINDS, store, stored

ANEW = "The sentences, the weights or the method have changed: run `python -m selfattn.stored_reports`, and keep what it writes."


@pytest.mark.parametrize("name", KINDS)
def test_the_stored_reports_are_of_the_sentences_and_weights_that_are_here(name, encoder):
    assert stored(name, encoder, KINDS[name].reads()) is not None, ANEW


def test_one_words_stored_separation_equals_the_live_one(encoder):
    frame = KINDS["separation"].reads()
    found = stored("separation", encoder, frame).report
    live = separation(encoder, frame[frame["word"] == "bank"], shuffles=1, floor=False)
    own = found.words[found.words["word"] == "bank"]
    pd.testing.assert_frame_equal(own.reset_index(drop=True), live.words, check_dtype=False, atol=1e-6)
    sentences, expected = (report.sentences(3, 7).query("word == 'bank'") for report in (found, live))
    pd.testing.assert_frame_equal(sentences, expected, check_dtype=False)


@pytest.mark.long
@pytest.mark.parametrize("name", KINDS)
def test_every_stored_number_equals_the_live_one(name, encoder):
    kind = KINDS[name]
    found = stored(name, encoder, kind.reads()).report
    live = kind.make(encoder, kind.reads(), progress=lambda done, total: None)
    same(found, live, atol=1e-4)


def same(found, expected, atol):
    """Every field of two reports. A p-value counts 1,000 shuffles: a near tie may fall to the other side on another processor."""
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
def test_a_report_comes_back_as_it_was_stored_and_only_for_what_it_was_made_of(encoder, tmp_path, monkeypatch):
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
    about = json.loads((tmp_path / "separation/about.json").read_text())
    assert set(about["libraries"]) == {"torch", "transformers", "numpy", "pandas"}
