"""Test which rows of a table are rejected."""

import pandas as pd
import pytest

from selfattn import Encoder, TextError
from selfattn.senses import check_rows, head_profiles, hidden_words, separation
from selfattn.senses.nearest_sentences import labelled_vectors

BAD = "The bank number 3 lends money."
ROWS = [(f"The bank number {n} lends money.", "bank", "money") for n in range(10)]
ROWS += [(f"The bank of river {n} was muddy.", "bank", "water") for n in range(9)]
FRAME = pd.DataFrame(ROWS, columns=["sentence", "word", "sense"], index=range(5, 24))
REPORTS = {
    separation: {"floor": False, "shuffles": 1}, hidden_words: {}, head_profiles: {}, labelled_vectors: {},
}  # fmt: skip


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.slow
def test_report_rejects_text_that_gives_nan(encoder_of, monkeypatch, report):
    encoder = encoder_of("BERT")
    run, ran = Encoder._run, []

    def broken(self, copies):
        texts = [tokens.text for tokens, *_ in copies]
        ran.extend(texts)
        if BAD in texts:
            raise TextError("This text comes out as NaN.")
        return run(self, copies)

    monkeypatch.setattr(Encoder, "_run", broken)
    without = report(encoder, FRAME[FRAME["sentence"] != BAD], **REPORTS[report])
    assert len(ran) <= len(FRAME)  # without NaN, no text runs twice
    found = report(encoder, FRAME, **REPORTS[report])
    assert BAD in ran
    if hasattr(found, "rejected"):
        mine = found.rejected[found.rejected["sentence"] == BAD]
        assert mine["reason"].tolist() == ["This text comes out as NaN."]
        assert len(found.rejected) == len(without.rejected) + 1
    for table in ("heads", "words", "patterns"):
        if hasattr(found, table):
            pd.testing.assert_frame_equal(getattr(found, table), getattr(without, table))


def test_row_limit_is_equal_for_each_sense(encoder):
    usable, rejected = check_rows(encoder, FRAME, per_sense=4, most=10)
    assert usable.groupby("sense", sort=False).size().to_dict() == {"money": 5, "water": 5}
    assert usable.index.tolist() == [*range(5, 10), *range(15, 20)] and len(rejected) == 9
    assert (
        rejected["reason"].str.contains("Only the first 5 .* the limit is 10 sentences for all senses of a word").all()
    )
    with pytest.raises(ValueError, match="None of the 3 rows can be used"):
        hidden_words(encoder, FRAME[:3])


def test_check_rows_refuses_repeated_column(encoder):
    frame = pd.concat([FRAME, FRAME["word"]], axis=1)
    with pytest.raises(ValueError, match=r"Expected one column word, got 2\. Rename all but one"):
        check_rows(encoder, frame)
