"""A stranger's table: read to its limits and no further, in memory that stays bounded whatever the file says of itself."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from selfattn import TextError
from selfattn.scan import uploads
from selfattn.scan.tables import InputError, Row

ROWS = [("The bank of the river.", "bank", "water"), ("The bank approved the loan.", "bank", "money")] * 2


# The most memory that a program takes. Asked by a small process: a large one's own would count as the program's.
PEAK = """
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-I", *sys.argv[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(os.wait4(child.pid, 0)[2].ru_maxrss)
"""


def parquet(path, sentences, word="bank", **options):
    pq.write_table(pa.table({"sentence": sentences, "word": [word] * len(sentences)}), path, **options)
    return path


def csv(path, rows=ROWS):
    path.write_text("sentence,word,sense\n" + "".join(f"{','.join(row)}\n" for row in rows))
    return path


def repeated(length, count):
    """`count` times one text of `length` letters, kept once: a dictionary page."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array(["a" * length]))


@pytest.mark.parametrize(
    ("variable", "most", "words"),
    [
        ("SELFATTN_MAX_ROWS", 3, "more rows than this server takes, which is 3"),
        ("SELFATTN_MAX_CHARACTERS", 26, r"more characters in a cell \(line .\) than this server takes, which is 26"),
        ("SELFATTN_MAX_TABLE_CHARACTERS", 100, "more characters in all than this server takes, which is 100"),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.slow
def test_each_limit_has_its_number_and_its_remedy(tmp_path, monkeypatch, kind, variable, most, words):
    file = csv(tmp_path / "t.csv") if kind == "csv" else parquet(tmp_path / "t.parquet", [row[0] for row in ROWS])
    assert [row.sentence for row in uploads.read_upload(file)] == [row[0] for row in ROWS]
    monkeypatch.setenv(variable, str(most))
    with pytest.raises(TextError, match=f"{words}. Take a part of it, or run the corpus job"):
        uploads.read_upload(file)


def test_counting_stops_at_the_limit(tmp_path, monkeypatch):
    def endless(path):
        for line in range(4):
            yield Row(line, str(path), line, "The bank.", "bank", None)
        pytest.fail("read on after the row beyond the limit")

    monkeypatch.setenv("SELFATTN_MAX_ROWS", "3")
    monkeypatch.setattr(uploads, "rows_of", endless)
    with pytest.raises(TextError, match="more rows"):
        uploads.read_upload(tmp_path / "t.csv")


@pytest.mark.slow
def test_a_small_file_of_much_text_is_refused_in_bounded_memory(tmp_path):
    """Sixty rows of ten million letters in a few kilobytes: 600 MB as texts."""
    bomb = parquet(tmp_path / "bomb.parquet", repeated(10_000_000, 60), compression="zstd")
    assert bomb.stat().st_size < 20_000
    with pytest.raises((TextError, InputError), match=r"characters in a cell|more memory or time"):
        uploads.read_upload(bomb)
    most = subprocess.run(
        [sys.executable, "-I", "-c", PEAK, str(uploads.CHILD), str(bomb), "40000"], capture_output=True
    )
    assert 20_000 < int(most.stdout) < 400_000  # kilobytes, Python and pyarrow included


@pytest.mark.slow
def test_what_a_parquet_file_may_not_be(tmp_path):
    (tmp_path / "no.parquet").write_bytes(b"no parquet")
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "columns.parquet")
    for name, words in (("no", "can't be read"), ("columns", "expected the columns sentence, word")):
        with pytest.raises(InputError, match=words):
            uploads.read_upload(tmp_path / f"{name}.parquet")
    lists = pa.table({"sentence": [["The", "bank"], ["A"]], "word": ["bank", "bank"]})
    pq.write_table(lists, tmp_path / "lists.parquet")
    assert [row.problem for row in uploads.read_upload(tmp_path / "lists.parquet")] == [
        "The column sentence holds no text here (list)."
    ] * 2
