"""Reading tables a chunk at a time: the formats, the odd rows, and that every cut gives the same rows."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfattn.scan.tables import InputError, input_files, plan, read_chunk, words_to_find

ROWS = [
    ("The bank of the river.", "bank", "water"),
    ('A "bank", they said,\nis a bank.', "bank", ""),
    ("Ein Ufer, 河岸, a bank 🏞️.", "bank", "water"),
    ("The bank opened.", "bank", "money"),
    ("My bank charges fees.", "bank", "money"),
]
NAMES = ("sentence", "word", "sense")


def written(path, rows=ROWS, names=NAMES, newline="\n"):
    """A table of these rows, of the path's kind; the path."""
    if path.suffix == ".csv":
        lines = [",".join('"{}"'.format(cell.replace('"', '""')) for cell in row) for row in rows]
        path.write_bytes(newline.join([",".join(names), *lines]).encode())
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(dict(zip(names, row))) for row in rows) + "\n\n", "utf-8")
    else:
        columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
        pq.write_table(pa.table(columns), path, row_group_size=2)
    return path


def read(path, part_rows=2, words=()):
    return [row for chunk in plan(input_files(path, words), part_rows, words) for row in read_chunk(chunk, words)]


def odd(tmp_path, name, data):
    """What is read of a file with this content."""
    (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return read(tmp_path / name)


KINDS = ("csv", "jsonl", "parquet")


@pytest.mark.parametrize("part_rows", [1, 2, 3, 100])
@pytest.mark.parametrize("kind", KINDS)
def test_every_format_and_every_cut_gives_the_same_rows(tmp_path, kind, part_rows):
    chunks = plan(input_files(written(tmp_path / f"table.{kind}")), part_rows)
    assert max(chunk.n_rows for chunk in chunks) <= part_rows
    rows = [row for chunk in reversed(chunks) for row in read_chunk(chunk)]  # chunks don't lean on one another
    rows.sort(key=lambda row: row.row)
    assert [(row.row, row.sentence, row.word, row.sense, row.problem) for row in rows] == [
        (at, *cells, None) for at, cells in enumerate(ROWS)
    ]
    # A line is where the row ends, so that an editor finds it: the second row has a line break in its sentence.
    assert [row.line for row in rows] == ([2, 4, 5, 6, 7] if kind == "csv" else [1, 2, 3, 4, 5])


def test_a_folder_is_read_by_name_and_counted_through(tmp_path):
    for folder in ("b", ".hidden"):
        (tmp_path / folder).mkdir()
    written(tmp_path / "b" / "two.jsonl", ROWS[2:])
    table = written(tmp_path / "a.csv", ROWS[:2], newline="\r\n")
    table.write_bytes(b"\xef\xbb\xbf" + table.read_bytes())  # a byte order mark is no part of the table
    written(tmp_path / ".hidden" / "x.csv")
    (tmp_path / "notes.txt").write_text("no table")
    rows = read(tmp_path)
    assert [tuple(row[3:6]) for row in rows] == ROWS
    assert [row.row for row in rows] == list(range(5))


def test_odd_rows_are_named_and_the_others_still_read(tmp_path):
    lines = b"Well, the bank opened.,bank", b"", b"The b\xe4nk.,bank", b"only one column", b"The bank opened.,bank"
    rows = odd(tmp_path, "table.csv", b"\n".join([b"sentence,word", *lines]))  # a bare comma, Latin-1
    assert "3 columns, the header 2" in rows[0].problem
    assert "UTF-8" in rows[1].problem and rows[1].sentence == "The b\\xe4nk."
    assert "1 columns" in rows[2].problem
    assert rows[3][3:7] == ("The bank opened.", "bank", None, None)
    assert [row.line for row in rows] == [2, 4, 5, 6]
    assert [chunk.n_skipped for chunk in plan([tmp_path / "table.csv"], 1)] == [0, 1, 0, 0]


@pytest.mark.parametrize("others", ["The bank opened.,bank", '"Well, the bank opened.","bank"'])
@pytest.mark.parametrize("broken", ['"The bank opened.,bank', 'The bank opened.,"bank', '"The bank "opened".",bank'])
@pytest.mark.parametrize("at", [0, 997, 999])
def test_a_quotation_mark_that_is_never_closed_costs_its_own_row_only(tmp_path, others, broken, at):
    lines = [others] * 1000
    lines[at] = broken
    (tmp_path / "table.csv").write_text("sentence,word\n" + "\n".join(lines), encoding="utf-8")
    for part_rows in (7, 1000):
        rows = read(tmp_path / "table.csv", part_rows)
        (bad,) = [row for row in rows if row.problem]
        assert "quotation mark" in bad.problem
        assert (bad.row, bad.line, bad.sentence.strip()) == (at, at + 2, broken)
        assert [row.line for row in rows] == list(range(2, 1002))


@pytest.mark.parametrize(("n_lines", "length", "whole"), [(1000, 8, True), (1001, 8, False), (20, 60_000, False)])
def test_between_quotation_marks_stand_at_most_a_thousand_lines_and_a_megabyte(tmp_path, n_lines, length, whole):
    text = "\n".join(["x" * length] * n_lines)
    rows = odd(tmp_path, "table.csv", f'sentence,word\n"{text}",bank\nThe bank.,bank\n')
    assert rows[-1][3:7] == ("The bank.", "bank", None, None)
    assert [row.problem is None for row in rows] == ([True, True] if whole else [False] * n_lines + [True])
    assert rows[0].line == (1001 if whole else 2)


def test_of_a_malformed_record_its_first_line_is_given_up_and_the_next_are_rows(tmp_path):
    text = 'sentence,word\n"The bank.,bank\nThe bank opened.,bank\nA 5",bank,x\nA bank.,bank\n'
    rows = odd(tmp_path, "table.csv", text)  # too many columns
    assert [(row.line, row.sentence) for row in rows if not row.problem] == [(3, "The bank opened."), (5, "A bank.")]
    rows = odd(tmp_path, "table.csv", 'sentence,word\n"A "good" bank\nis a bank",bank\nA "good" bank.,bank\n')
    assert [row.line for row in rows if row.problem] == [2, 3] and "without its other half" in rows[1].problem
    assert rows[2][3:7] == ('A "good" bank.', "bank", None, None)
    # Each field is short enough for Python's own reader, which takes 131,072 characters.
    names = ["sentence", "word", *(f"more{n}" for n in range(10))]
    fields = ",".join(['"' + "x" * 100_000 + '\n"'] * len(names))
    rows = odd(tmp_path, "table.csv", f"{','.join(names)}\n{fields}\n")
    assert "1,048,576 bytes between quotation marks" in rows[0].problem


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_changes_between_the_plan_and_the_reading_is_refused(tmp_path, kind):
    path = written(tmp_path / f"table.{kind}")
    chunks = plan(input_files(path), 2)
    written(path, [*ROWS[:3], ("The bank opined.", *ROWS[3][1:]), ROWS[4]])
    assert [len(list(read_chunk(chunks[number]))) for number in (0, 2)] == [2, 1]
    with pytest.raises(InputError, match="was changed while it was read: rows 2 to 3"):
        list(read_chunk(chunks[1]))
    written(path, ROWS[:4])
    with pytest.raises(InputError, match=r"rows 4 to 4|can't be read"):
        list(read_chunk(chunks[2]))


def json_line(**cells):
    return json.dumps({"sentence": "The bank.", "word": "bank", **cells}).encode()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (json_line(sense="\ud83d"), "The column sense is not valid Unicode: it has half of a surrogate pair"),
        (json_line(sentence="The \udc00 bank."), "The column sentence is not valid Unicode"),
        (json_line(sense=[1]), "The column sense holds no text here (list)."),
        (json_line(sense=[]).replace(b"[]", b"[" * 900 + b"]" * 900), "no text here|Not valid JSON"),
        (json_line(id=0).replace(b"0", b"9" * 5000), "Not valid JSON (Exceeds the limit"),
        (json_line(sense=0).replace(b"0", b"9" * 4000), None),
        (json_line(sense=float("nan")), None),
        (b'{"word": "bank", "sentence": "The bank.", "word": "loan"}', "the key 'word' stands twice"),
        (b"[1]", 'Expected an object with the keys "sentence" and "word"'),
        (b'{"sentence": "\xe4", "word": "bank"}', "Not valid UTF-8"),
    ],
)
def test_a_line_of_json_that_fits_no_table_costs_its_own_row_only(tmp_path, line, problem):
    lines = b"\n".join([json_line(sense="first"), line, json_line(sense="last")])
    first, bad, last = odd(tmp_path, "table.jsonl", lines)
    assert [first.problem, last.problem, first.sense, last.sense] == [None, None, "first", "last"]
    assert bad.problem is None if problem is None else any(each in bad.problem for each in problem.split("|"))
    assert bad.line == 2


def test_a_bad_cell_in_parquet_costs_its_own_row_only(tmp_path):
    texts = pa.array([b"water", b"m\xffney", b"water"]).cast(pa.binary()).view(pa.string())
    dates = pa.array([0, 2**60, 0], pa.timestamp("ms"))  # beyond the last year that Python counts
    for name, column, problem in (("sense", texts, "UnicodeDecodeError"), ("word", dates, "can't be read here")):
        cells = {"sentence": ["The bank."] * 3, "word": ["bank"] * 3, "sense": ["water"] * 3, name: column}
        pq.write_table(pa.table(cells), tmp_path / "table.parquet")
        rows = read(tmp_path / "table.parquet")
        assert f"The column {name} can't be read here" in rows[1].problem and problem in rows[1].problem
        assert [row.sentence for row in rows] == ["The bank."] * 3
        others = [None, None] if name == "sense" else ["The column word holds no text here (datetime)."] * 2
        assert [rows[0].problem, rows[2].problem] == others


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("table.csv", b"text,token\na,b\n", "expected the columns sentence, word and .* got text, token"),
        ("table.csv", b"sense,word, sense,sentence,\na,a,b,b,\n", "has 2 columns sense, expected one"),
        ("table.csv", b"", "got nothing"),
        ("table.txt", b"sentence,word\n", r"Expected a file ending in .* \(\.txt needs --word\)"),
        ("table.parquet", b"no parquet", "can't be read"),
        ("table.jsonl", b"x" * (2**24 + 1), "longer than"),
        ("table.csv", "sentence,word\na,b".encode("utf-16"), "is written in UTF-16 or UTF-32. Expected UTF-8"),
        ("table.csv", "sentence,word\na,b".encode("utf-16-le"), "is written in UTF-16 or UTF-32"),
        ("table.jsonl", '{"sentence": "a"}'.encode("utf-32-le"), "is written in UTF-16 or UTF-32"),
    ],
)
def test_what_is_no_such_table_is_refused_by_name(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        plan(input_files(tmp_path / name), 10)
    assert str(tmp_path / name) in str(caught.value)
    with pytest.raises(InputError, match="no file or folder"):
        input_files(tmp_path / "absent")


@settings(deadline=None)
@given(st.binary(max_size=300), st.integers(1, 4))
@pytest.mark.slow
def test_any_bytes_under_a_header_read_the_same_whole_and_in_pieces(tmp_path_factory, data, part_rows):
    path = tmp_path_factory.mktemp("fuzz") / "table.csv"
    path.write_bytes(b"sentence,word\n" + data)
    assert [row[3:] for row in read(path, part_rows)] == [row[3:] for row in read(path, 1000)]


TEXTS = [
    "The Bank of the river.",
    "",
    "No such thing; embankments, a river\u2019s mouth.",
    "A Bank, a BANK, and no stream",
    "Bank-rate. Bankers.",
]


@pytest.mark.parametrize("part_rows", [1, 2, 100])
@pytest.mark.parametrize("kind", ["txt", *KINDS])
def test_texts_are_searched_by_the_word_rule_and_those_without_are_counted(tmp_path, kind, part_rows):
    path = tmp_path / f"corpus.{kind}"
    if kind == "txt":
        path.write_text("\r\n".join(TEXTS), encoding="utf-8", newline="")
    else:
        written(path, [(text, "its own") for text in TEXTS], ("text", "word"), "\r\n")
    words = words_to_find(["Bank", "river", "bank "])
    chunks = plan(input_files(path, words), part_rows, words)
    rows = [row for chunk in chunks for row in read_chunk(chunk, words)]
    assert [(row.sentence, row.words) for row in rows] == [(TEXTS[0], ("bank", "river")), (TEXTS[3], ("bank",))]
    empty = kind == "txt"  # an empty line of plain text is no text
    lines = [2, 5] if kind == "csv" else [1, 4]
    assert [(row.row, row.line, row.problem) for row in rows] == [(0, lines[0], None), (3 - empty, lines[1], None)]
    assert sum(chunk.n_without for chunk in chunks) == 3 - empty and sum(chunk.n_skipped for chunk in chunks) == empty


def test_words_are_searched_in_every_spelling_and_script(tmp_path):
    texts = [
        "我去银行取钱",
        "银行在河边",
        "中国银行很大",
        "The cafe\u0301, a/river.",
        "İSTANBUL ban\u200bk",
        "银 行 café's",
    ]
    (tmp_path / "texts.txt").write_text("\n".join(texts), "utf-8")
    words = words_to_find(["银行", "café", "istanbul", "River", "BANK"])
    assert words == ("bank", "café", "istanbul", "river", "银行")
    found = [row.words for row in read(tmp_path / "texts.txt", 2, words)]
    assert found == [("银行",)] * 3 + [("café", "river"), ("bank", "istanbul")]


def test_what_cannot_be_searched_is_kept_to_be_rejected(tmp_path):
    lines = b'{"text": "The b\xe4nk."}', b"[1]", b'{"text": 7}', b'{"other": "bank"}', b'{"text": "No."}'
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    (tmp_path / "b.txt").write_bytes(b"A b\xe4nk.\nbank\n")
    (tmp_path / "c.csv").write_text("text,sense,sentence\nA river.,money,A bank.\nA bank.,,A river.\n", "utf-8")
    rows = read(tmp_path, 10, ("bank",))
    begin = [
        "Not valid UTF-8",
        'Expected an object with the keys "sentence" or "text"',
        "",
        "",
        "Not valid UTF-8",
        "",
        "",
    ]
    assert all((row.problem or "").startswith(each) for row, each in zip(rows, begin, strict=True))
    assert [row.sentence for row in rows[2:4]] == [7, None] and rows[5].words == ("bank",)
    assert rows[6][3:6] == ("A bank.", "bank", "money")  # of a sentence and a text the sentence is searched


@pytest.mark.parametrize("word", ["New York", "", " ", "bank.", "a,b"])
def test_only_one_word_at_a_time_can_be_searched_for(word):
    with pytest.raises(InputError, match="Expected one word to search for"):
        words_to_find(["bank", word])


def test_the_words_need_texts(tmp_path):
    path = tmp_path / "a.parquet"
    twice = pa.table([["bank"], ["A bank."], ["loan"]], names=["word", "sentence", "word"])
    pq.write_table(twice, path)
    with pytest.raises(InputError, match=r"has 2 columns word, expected one\. Rename or remove the others"):
        plan([path], 10)
    assert len(plan([path], 10, ("bank",))) == 1  # where words are searched for, nobody asks for them
    pq.write_table(pa.table({"word": ["bank"]}), path)
    with pytest.raises(InputError, match="expected a column sentence or text, got word"):
        plan([path], 10, ("bank",))
