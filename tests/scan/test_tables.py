"""Test how tables of every file format are read."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from selfattn.scan.job import Job
from selfattn.scan.tables import InputError, input_files, read_rows

ROWS = [
    ("The bank of the river.", "bank", "water"),
    ('A "bank", they said,\nis a bank.', "bank", ""),
    ("Ein Ufer, 河岸, a bank 🏞️.", "bank", "water"),
    ("The bank opened.", "bank", "money"),
    ("My bank charges fees.", "bank", "money"),
]
NAMES = ("sentence", "word", "sense")


def written(path, rows=ROWS, newline="\n"):
    if path.suffix == ".csv":
        lines = [",".join('"{}"'.format(cell.replace('"', '""')) for cell in row) for row in rows]
        path.write_bytes(newline.join([",".join(NAMES), *lines]).encode())
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(dict(zip(NAMES, row))) for row in rows) + "\n\n", "utf-8")
    else:
        pq.write_table(pa.table(dict(zip(NAMES, map(list, zip(*rows))))), path, row_group_size=2)
    return path


def odd(tmp_path, name, data, searched=False):
    (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return list(read_rows(tmp_path / name, searched))


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_formats_give_same_rows(tmp_path, kind):
    rows = list(read_rows(written(tmp_path / f"table.{kind}")))
    assert [(row.sentence, row.word, row.sense, row.problem) for row in rows] == [(*cells, None) for cells in ROWS]
    # In the CSV file, the header is line 1, and the second row ends in line 4.
    assert [row.line for row in rows] == ([2, 4, 5, 6, 7] if kind == "csv" else [1, 2, 3, 4, 5])


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_csv_may_have_cr_and_byte_order_mark(tmp_path, newline):
    table = written(tmp_path / "table.csv", ROWS, newline=newline)
    table.write_bytes(b"\xef\xbb\xbf" + table.read_bytes())
    assert [tuple(row[3:6]) for row in read_rows(table)] == ROWS


def test_folder_is_read_in_order_of_names(tmp_path):
    for folder in ("b", ".hidden", "b/.hidden"):
        (tmp_path / folder).mkdir()
        written(tmp_path / folder / "two.jsonl", ROWS[2:])
    written(tmp_path / "a.csv", ROWS[:2])
    (tmp_path / "notes.txt").write_text("no table")
    parts = list(Job(str(tmp_path), "out", part_rows=2).parts())
    assert [(name, len(rows)) for name, rows in parts] == [("part-000000", 2), ("part-000001", 2), ("part-000002", 1)]
    rows = [row for _, rows in parts for row in rows]
    assert [tuple(row[3:6]) for row in rows] == ROWS and [row.row for row in rows] == list(range(5))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "sentence;word;sense\n; ;\n"),
        ("a.csv", "sep=;\nsentence;word;sense\n; ;\n"),
        ("a.csv", '"sep=,"\nsentence,word,sense\n,,\n'),
        ("a.tsv", "SENTENCE\tWord\t Sense \n\t\t\n"),
        ("a.csv", "\ufeffsep=|\rsentence|word|sense\r||\r"),
    ],
)
@pytest.mark.parametrize("searched", [False, True])
def test_csv_delimiter_and_columns_are_recognised(tmp_path, name, text, searched):
    mark = next(mark for mark in ";,\t|" if mark in text)
    end = "\r" if "\r" in text else "\n"
    cells = ['"A bank; its, river\t| side."', "bank", "water"]
    data = text + f"  {end}" + mark.join(cells) + end + f"one{mark}row{end}"
    first, broken = odd(tmp_path, name, data, searched)
    found = "A bank; its, river\t| side.", None if searched else "bank", "water"
    assert first[2:8] == (data.count(end) - 1, *found, None, 2)
    marks = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "'|'"}[mark]
    assert (
        f"2 columns, but the header has 3. Put quotation marks around each sentence that contains {marks}"
        in broken.problem
    )


def test_json_keys_may_have_any_letter_case(tmp_path):
    data = '{"Sentence": "A bank.", " WORD": "bank", "Id": 1, "ID": 2}\n{"Word": "bank", "word": "bank"}'
    first, twice = odd(tmp_path, "a.jsonl", data)
    assert first[3:7] == ("A bank.", "bank", None, None) and "the key 'word' occurs twice" in twice.problem


def test_problem_of_malformed_csv_row_is_explained(tmp_path):
    lines = b"Well, the bank opened.,bank", b"", b"The b\xe4nk.,bank", b"only one column", b"The bank opened.,bank"
    rows = odd(tmp_path, "table.csv", b"\n".join([b"sentence,word", *lines]))
    assert "3 columns, but the header has 2" in rows[0].problem
    assert "is not valid Unicode" in rows[1].problem and rows[1].word == "bank"
    assert "1 columns" in rows[2].problem
    assert rows[3][3:7] == ("The bank opened.", "bank", None, None)
    assert [row.line for row in rows] == [2, 4, 5, 6] and [row.n_skipped for row in rows] == [0, 1, 0, 0]


@pytest.mark.parametrize("broken", ['The bank "opened"".,bank', '"The bank "opened".",bank'])
def test_malformed_csv_line_spoils_no_other_line(tmp_path, broken):
    first, bad, last = odd(tmp_path, "table.csv", f"sentence,word\nA bank.,bank\n{broken}\nThe bank.,bank\n")
    assert (first.sentence, last.sentence, first.problem, last.problem) == ("A bank.", "The bank.", None, None)
    assert "uotation mark" in bad.problem and (bad.line, bad.sentence.strip()) == (3, broken)


@pytest.mark.parametrize(("others", "n_bad"), [("The bank opened.,bank", 5700), ('"Well, a bank.","bank"', 2)])
def test_unclosed_quotation_is_rejected(tmp_path, others, n_bad):
    """Lines are rejected up to the next quotation mark or for 131,072 characters, whichever is shorter."""
    rows = odd(tmp_path, "table.csv", "sentence,word\n" + '"An open mark.,bank\n' + f"{others}\n" * 10_000)
    bad = [row for row in rows if row.problem]
    assert len(rows) == 10_001 and [row.line for row in rows] == list(range(2, 10_003))
    assert bad == rows[: len(bad)] and len(bad) == pytest.approx(n_bad, rel=0.05)
    assert all("The CSV is invalid from line 2" in row.problem for row in bad)


def json_line(**cells):
    return json.dumps({"sentence": "The bank.", "word": "bank", **cells}).encode()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (json_line(sense="\ud83d"), "The column sense is not valid Unicode."),
        (json_line(sentence="The \udc00 bank."), "The column sentence is not valid Unicode."),
        (json_line(sense=[1]), "Expected text in the column sense, got list."),
        (json_line(sense=[]).replace(b"[]", b"[" * 900 + b"]" * 900), "Expected text|JSON object"),
        (json_line(id=0).replace(b"0", b"9" * 5000), "(Exceeds the limit"),
        (json_line(sense=0).replace(b"0", b"9" * 4000), None),
        (json_line(sense=float("nan")), None),
        (b'{"word": "bank", "sentence": "The bank.", "word": "loan"}', "the key 'word' occurs twice"),
        (b"[1]", 'Expected a JSON object with the keys "sentence" and "word"'),
        (b"no json", "Expected a JSON object"),
        (b'{"sentence": "\xe4", "word": "bank"}', "is not valid Unicode"),
    ],
)
def test_malformed_json_line_spoils_no_other_line(tmp_path, line, problem):
    lines = json_line(sense="first"), line, json_line(sense="last")
    first, bad, last = odd(tmp_path, "table.jsonl", b"\n".join(lines))
    assert [first.problem, last.problem, first.sense, last.sense] == [None, None, "first", "last"]
    assert bad.problem is None if problem is None else any(each in bad.problem for each in problem.split("|"))
    assert bad.line == 2


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("table.csv", b"text,token\na,b\n", "expected the columns sentence, word and .* got text, token"),
        ("table.csv", b"sense,word, sense,sentence,\na,a,b,b,\n", "got sense, word, sense, sentence.*each name once"),
        ("table.csv", b"Sentence;sentence;Word\na;b;c\n", "got Sentence, sentence, Word. Rename your columns"),
        ("table.csv", b"sentence:word\n", "got sentence:word. .* separate the columns by commas, semicolons or tabs"),
        ("table.csv", b"", "got nothing"),
        ("table.csv", b"s\xe4tze\n", r"got s\\udce4tze"),
        ("table.csv", b'"sen"tence,word\n', "can't be read"),
        ("table.parquet", b"no parquet", "can't be read"),
        ("table.jsonl", b"x" * (2**24 + 1), "line 1 is longer than 16,777,216 characters"),
        ("table.csv", "sentence,word\na,b".encode("utf-16"), "is written in UTF-16 or UTF-32. Save the file as UTF-8"),
        ("table.csv", "sentence,word\na,b".encode("utf-16-le"), "is written in UTF-16 or UTF-32"),
        ("table.jsonl", '{"sentence": "a"}'.encode("utf-32-le"), "is written in UTF-16 or UTF-32"),
    ],
)
def test_error_names_unreadable_file(tmp_path, name, data, message):
    with pytest.raises(InputError, match=message) as caught:
        odd(tmp_path, name, data)
    assert str(tmp_path / name) in str(caught.value)


def test_unusable_parquet_file_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table([["bank"], ["A bank."], ["loan"]], names=["word", "sentence", "word"]), path)
    with pytest.raises(InputError, match=r"got word, sentence, word.*each name once"):
        list(read_rows(path))
    assert [row.sentence for row in read_rows(path, searched=True)] == ["A bank."]  # a search ignores the column `word`
    pq.write_table(pa.table({"WORD": ["bank"], "Sense ": ["water"], "Sentence": ["A bank."]}), path)
    assert [row[3:6] for row in read_rows(path)] == [("A bank.", "bank", "water")]
    pq.write_table(pa.table({"word": ["bank"]}), path)
    with pytest.raises(InputError, match="expected a column named sentence or text, got word"):
        list(read_rows(path, searched=True))
    text = pa.array([b"a bank", b"m\xffney"]).cast(pa.binary()).view(pa.string())
    pq.write_table(pa.table({"sentence": text, "word": ["bank", "bank"]}), path)
    with pytest.raises(InputError, match="can't be read: 'utf-8' codec can't decode"):
        list(read_rows(path))


def test_folder_without_tables_is_refused(tmp_path):
    (tmp_path / "table.txt").write_text("A bank.")
    with pytest.raises(InputError, match=r"Expected a file ending in .* \(\.txt needs --word\)"):
        input_files(tmp_path)
    assert input_files(tmp_path, searched=True) == [tmp_path / "table.txt"]
    with pytest.raises(InputError, match="no file or folder"):
        input_files(tmp_path / "absent")


def test_files_without_word_column_are_read(tmp_path):
    jsonl = b'{"text": "The b\xe4nk."}\n[1]\n{"text": 7}\n{"other": "bank"}\n'
    problems = [row.problem for row in odd(tmp_path, "a.jsonl", jsonl, searched=True)]
    assert (
        "not valid Unicode" in problems[0]
        and 'the keys "sentence" or "text"' in problems[1]
        and problems[2:] == [None] * 2
    )
    text = odd(tmp_path, "b.txt", b"A b\xe4nk.\r\n\r\nbank", searched=True)
    assert "not valid Unicode" in text[0].problem and (text[1].sentence, text[1].line, text[1].n_skipped) == (
        "bank",
        3,
        1,
    )
    both = odd(tmp_path, "c.csv", "text,sense,sentence\nA river.,money,A bank.\n", searched=True)
    assert both[0][3:6] == ("A bank.", None, "money")  # the column `sentence` wins over `text`
