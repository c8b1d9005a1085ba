"""Test the limits on uploaded tables."""

import json
import tracemalloc

import pytest

from selfattn import TextError
from selfattn.scan import uploads
from selfattn.scan.tables import InputError, Row
from selfattn.scan.uploads import read_upload

ROWS = [("The bank of the river.", "bank", "water"), ("The bank approved the loan.", "bank", "money")] * 2
CSV = ("sentence,word,sense\n" + "".join(f"{','.join(row)}\n" for row in ROWS)).encode()
JSON = "\n".join(json.dumps(dict(zip(("sentence", "word", "sense"), row))) for row in ROWS).encode()


@pytest.mark.parametrize(
    ("variable", "fits", "words"),
    [
        ("SELFATTN_MAX_ROWS", 4, "rows"),
        ("SELFATTN_MAX_CHARACTERS", 27, r"characters in a cell \(line .\)"),
        ("SELFATTN_MAX_TABLE_CHARACTERS", 134, "characters"),
    ],
)
@pytest.mark.parametrize(("suffix", "data"), [(".csv", CSV), (".ndjson", JSON)])
def test_error_names_exceeded_limit(monkeypatch, suffix, data, variable, fits, words):
    """The table is within the limit if the limit is `fits`, but not if it is `fits - 1`."""
    monkeypatch.setenv(variable, str(fits))
    assert [(row.sentence, row.word, row.sense) for row in read_upload(data, suffix)] == ROWS
    monkeypatch.setenv(variable, str(fits - 1))
    refusal = f"more than {fits - 1} {words}, the limit of this server. Upload a part of the table, or scan the table"
    with pytest.raises(TextError, match=refusal):
        read_upload(data, suffix)


def test_reading_stops_at_row_limit(monkeypatch):
    def endless(path, content):
        for line in range(4):
            yield Row(line, str(path), line, "The bank.", "bank", None)
        pytest.fail("more rows were read after the limit was exceeded")

    monkeypatch.setenv("SELFATTN_MAX_ROWS", "3")
    monkeypatch.setattr(uploads, "read_rows", endless)
    with pytest.raises(TextError, match="more than 3 rows"):
        read_upload(CSV, ".csv")


@pytest.mark.parametrize(("suffix", "begin", "cell"), [(".jsonl", b'{"x": [', b"[],"), (".csv", b"sentence,", b",")])
def test_empty_cells_need_bounded_memory(suffix, begin, cell):
    """Parsing this line would take many times its size in memory."""
    data = begin + cell * 5_000_000
    tracemalloc.start()
    with pytest.raises(TextError, match=r"more than 960,000 bytes in a line \(line 1\), the limit of this server"):
        read_upload(data, suffix)
    assert tracemalloc.get_traced_memory()[1] < 2.5 * len(data)
    tracemalloc.stop()


def test_json_cells_of_maximum_length_are_accepted(monkeypatch):
    monkeypatch.setenv("SELFATTN_MAX_CHARACTERS", "500")
    text = "\u00e9" * 500
    (row,) = read_upload(json.dumps({"sentence": text, "word": text, "sense": text}).encode(), ".jsonl")
    assert row.sentence == row.word == row.sense == text


def test_csv_lines_may_end_in_cr(monkeypatch):
    """The whole file is longer than the limit for one line."""
    monkeypatch.setenv("SELFATTN_MAX_CHARACTERS", "30")
    rows = read_upload(CSV.replace(b"\n", b"\r") + b"\r" * 720, ".csv")
    assert [row[2:6] for row in rows] == [(n, *row) for n, row in enumerate(ROWS, 2)]


@pytest.mark.parametrize("suffix", [".parquet", ".txt", ""])
def test_unsupported_table_formats_are_refused(suffix):
    refusal = (
        f"ending in .csv, .tsv, .jsonl, .ndjson, got {suffix or 'a file without an ending'}. "
        "Save the table as CSV, or scan the table"
    )
    with pytest.raises(InputError, match=refusal):
        read_upload(b"PAR1", suffix)
