"""The rows of a table that no report counts: columns that are there twice, and texts that the encoder breaks down over."""

import pandas as pd
import pytest

from selfattn import Encoder, TextError
from selfattn.senses import check_rows, head_profiles, interchange, leading_heads, separation
from selfattn.senses.nearest_sentences import labelled_vectors

BAD = "The bank number 3 lends money."
ROWS = [(f"The bank number {n} lends money.", "bank", "money") for n in range(10)]
ROWS += [(f"The bank of river {n} was muddy.", "bank", "water") for n in range(9)]
FRAME = pd.DataFrame(ROWS, columns=["sentence", "word", "sense"], index=range(5, 24))
REPORTS = {
    separation: {"floor": False, "shuffles": 1}, interchange: {}, leading_heads: {"sizes": (1,), "sets": 1},
    head_profiles: {}, labelled_vectors: {},
}  # fmt: skip


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.slow
def test_a_text_that_the_encoder_breaks_down_over_is_a_rejected_row_and_the_others_count(encoder, monkeypatch, report):
    run, ran = Encoder._run, []

    def broken(self, batch, *arguments, **options):
        ran.extend(tokens.text for tokens in batch)
        if BAD in [tokens.text for tokens in batch]:
            raise TextError("This text comes out as NaN.")
        return run(self, batch, *arguments, **options)

    without = report(encoder, FRAME[FRAME["sentence"] != BAD], **REPORTS[report])
    monkeypatch.setattr(Encoder, "_run", broken)
    found = report(encoder, FRAME, **REPORTS[report])
    assert BAD in ran
    if hasattr(found, "rejected"):
        mine = found.rejected[found.rejected["sentence"] == BAD]
        assert (
            mine["reason"].tolist() == ["This text comes out as NaN."]
            and len(found.rejected) == len(without.rejected) + 1
        )
    for table in ("heads", "words", "patterns", "pairs"):
        if hasattr(found, table):
            pd.testing.assert_frame_equal(getattr(found, table), getattr(without, table))
    ran.clear()
    report(encoder, FRAME[FRAME["sentence"] != BAD], **REPORTS[report])
    assert len(ran) <= len(FRAME)  # nothing is run twice where nothing breaks down


def test_a_column_that_is_there_twice_is_refused_by_its_name(encoder):
    frame = pd.concat([FRAME, FRAME["word"]], axis=1)
    with pytest.raises(ValueError, match=r"Expected one column word, got 2\. Rename the others"):
        check_rows(encoder, frame)
