"""A stranger's table: read to its limits and no further, in memory that stays bounded whatever the file says of itself."""

import resource

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from selfattn import TextError, parquet_process
from selfattn.scan import uploads
from selfattn.scan.tables import InputError, Row

ROWS = [("The bank of the river.", "bank", "water"), ("The bank approved the loan.", "bank", "money")] * 2


def parquet(path, sentences, sense=None, **options):
    columns = {"sentence": sentences, "word": ["bank"] * len(sentences), **({"sense": sense} if sense else {})}
    pq.write_table(pa.table(columns), path, **options)
    return path


def csv(path, rows=ROWS):
    path.write_text("sentence,word,sense\n" + "".join(f"{','.join(row)}\n" for row in rows))
    return path


def repeated(length, count):
    """`count` times one text of `length` letters, kept once: a dictionary page."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array(["a" * length]))


@pytest.mark.parametrize(
    ("variable", "holds", "words"),
    [
        ("SELFATTN_MAX_ROWS", 4, "more rows"),
        ("SELFATTN_MAX_CHARACTERS", 27, r"more characters in a cell \(line .\)"),
        ("SELFATTN_MAX_TABLE_CHARACTERS", 134, "more characters in all"),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.slow
def test_each_limit_has_its_number_and_its_remedy(tmp_path, monkeypatch, kind, variable, holds, words):
    """A table of exactly as much as is taken, and with the limit one lower."""
    sentences, _, senses = zip(*ROWS)
    file = csv(tmp_path / "t.csv") if kind == "csv" else parquet(tmp_path / "t.parquet", sentences, sense=senses)
    monkeypatch.setenv(variable, str(holds))
    assert [row.sentence for row in uploads.read_upload(file)] == list(sentences)
    monkeypatch.setenv(variable, str(holds - 1))
    refusal = f"{words} than this server takes, which is {holds - 1}. Take a part of it, or run the corpus job"
    with pytest.raises(TextError, match=refusal):
        uploads.read_upload(file)


def test_counting_stops_at_the_limit(tmp_path, monkeypatch):
    def endless(path, searched):
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
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    bomb = parquet(tmp_path / "bomb.parquet", repeated(10_000_000, 60), compression="zstd")
    assert bomb.stat().st_size < 20_000
    with pytest.raises((TextError, InputError), match=r"characters in a cell|more memory or time"):
        uploads.read_upload(bomb)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kilobytes


@pytest.mark.slow
def test_many_long_texts_are_read_a_few_at_a_time(tmp_path):
    """Of 600 MB in cells that are each short enough, as many are read as show that it is too much in all."""
    bomb = parquet(tmp_path / "bomb.parquet", repeated(30_000, 20_000), compression="zstd")
    with pytest.raises(TextError, match="more characters in all"):
        uploads.read_upload(bomb)


def test_no_more_of_a_text_is_handed_over_than_shows_that_it_is_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_process, "limit_memory", lambda size: None)
    parquet_process.open_table(str(parquet(tmp_path / "t.parquet", ["a" * 1_000_000])), 10)
    assert parquet_process.next_rows()[0]["sentence"] == "a" * 11


@pytest.mark.slow
def test_one_strangers_file_is_read_at_a_time_and_a_refused_one_makes_room(tmp_path, monkeypatch):
    file = parquet(tmp_path / "t.parquet", [row[0] for row in ROWS])
    rows = uploads._parquet_rows(file)
    next(rows)
    assert uploads._one_at_a_time.locked()
    rows.close()
    monkeypatch.setenv("SELFATTN_MAX_ROWS", "1")
    with pytest.raises(TextError, match="more rows"):
        uploads.read_upload(file)
    assert not uploads._one_at_a_time.locked()


@pytest.mark.slow
def test_what_a_parquet_file_may_not_be(tmp_path):
    (tmp_path / "no.parquet").write_bytes(b"no parquet")
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "columns.parquet")
    twice = pa.table([["a"], ["a"], ["b"]], names=["sentence", "word", "word"])
    pq.write_table(twice, tmp_path / "twice.parquet")
    for name, words in (
        ("no", "can't be read"),
        ("columns", "expected the columns sentence, word"),
        ("twice", "the column word stands in it twice"),
    ):
        with pytest.raises(InputError, match=words):
            uploads.read_upload(tmp_path / f"{name}.parquet")
    lists = pa.table({"sentence": [["The", "bank"], ["A"]], "word": ["bank", "bank"]})
    pq.write_table(lists, tmp_path / "lists.parquet")
    assert [row.problem for row in uploads.read_upload(tmp_path / "lists.parquet")] == [
        "The column sentence holds no text here (list)."
    ] * 2
    bad = pa.array([b"one", b"\xff\xfe"]).cast(pa.binary()).view(pa.string())
    pq.write_table(pa.table({"sentence": bad, "word": ["bank"] * 2}), tmp_path / "bad.parquet")
    one, two = uploads.read_upload(tmp_path / "bad.parquet")
    assert (one.sentence, one.problem) == ("one", None)
    assert "The column sentence can't be read here (UnicodeDecodeError" in two.problem
