"""Read tables of any size row by row."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count
from pathlib import Path
from typing import BinaryIO, NamedTuple

import pyarrow.parquet as pq

from selfattn.encoders.untrusted_files import each_key_once

COLUMNS = ("sentence", "word", "sense")  # sense is optional
SEARCHED = ("sentence", "text", "sense", "pair")  # to search: the column sentence or else text; pair: a second text
KINDS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
PLAIN = ".txt"  # one text per line
LINE_LIMIT = 2**24  # characters
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}
NAMED_DELIMITER = re.compile('"?sep=([,;|\t])')  # such as "sep=;", which Excel reads before the header
SURROGATE = re.compile("[\ud800-\udfff]")
NOT_UNICODE = "is not valid Unicode. Save the file as UTF-8."
ODD_MARKS = (
    "A quotation mark isn't closed. Put quotation marks around the sentence, and double every quotation mark inside."
)


class InputError(ValueError):
    """A file or folder can't be read. The message gives the remedy."""


class Row(NamedTuple):
    """A row of the input."""

    row: int  # the row's number in the input, from 0
    file: str
    line: int  # the row's last line in the file, from 1
    sentence: object
    word: object
    sense: object
    problem: str | None = None  # why the row can't be used
    n_skipped: int = 0  # number of empty lines just before it
    pair: object = None  # the second text


def input_files(source: Path, searched: bool = False) -> list[Path]:
    """Return the file `source`, or the tables in the folder `source`, sorted by name. Raises InputError.

    searched: accept .txt files too
    """
    kinds = (*KINDS, PLAIN) if searched else KINDS
    inside = (path for path in source.rglob("*") if "/." not in f"/{path.relative_to(source).as_posix()}")
    files = [source] if source.is_file() else sorted(filter(Path.is_file, inside))
    if not source.exists():
        raise InputError(f"There is no file or folder {source}.")
    if not (files := [path for path in files if path.suffix.lower() in kinds]):
        expected = f"a file ending in {', '.join(kinds)} or a folder with such files"
        raise InputError(f"Expected {expected}, got {source}{'' if searched else f' ({PLAIN} needs --word)'}.")
    return files


def read_rows(file: Path, searched: bool = False, content: bytes | None = None) -> Iterator[Row]:
    """Yield one file's rows. Raises InputError.

    searched: True if the texts are searched for given words, so that no column `word` is needed
    content: the file's bytes, if the file isn't on the disk
    """
    readers = {".csv": _csv_rows, ".tsv": _csv_rows, ".parquet": _parquet_rows}
    read, n_skipped = readers.get(file.suffix.lower(), _line_rows), 0
    try:  # a reader yields line number, cells (None for an empty line) and problem
        with open(file, "rb") if content is None else io.BytesIO(content) as stream:
            for line, cells, problem in read(stream, file, SEARCHED if searched else COLUMNS):
                if cells is None:
                    n_skipped += 1
                    continue
                for column, cell in cells.items():
                    if not isinstance(cell, str | int | float | None):
                        problem = problem or f"Expected text in the column {column}, got {type(cell).__name__}."
                        cells = cells | {column: None}
                    elif isinstance(cell, str) and SURROGATE.search(cell):
                        problem = problem or f"The column {column} {NOT_UNICODE}"
                sentence = cells.get("sentence", cells.get("text"))
                named = sentence, cells.get("word"), cells.get("sense")
                yield Row(0, str(file), line, *named, problem, n_skipped, cells.get("pair"))
                n_skipped = 0
    except InputError:
        raise
    except (OSError, ValueError, OverflowError, NotImplementedError, csv.Error) as error:
        raise InputError(f"{file} can't be read: {error}. Check that the file is complete.") from None


def _lines(stream: BinaryIO, file: Path) -> Iterator[str]:
    """Yield each line with its line end. Bytes that aren't UTF-8 become surrogates."""
    text = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline="")
    for number, line in enumerate(iter(lambda: text.readline(LINE_LIMIT), ""), 1):
        if len(line) == LINE_LIMIT:
            raise InputError(
                f"{file}: line {number:,} is longer than {LINE_LIMIT:,} characters. Check that the file is a table."
            )
        if number == 1 and (line[:2] in ("\udcff\udcfe", "\udcfe\udcff") or 4 * line.count("\0") >= len(line)):
            raise InputError(f"{file} is written in UTF-16 or UTF-32. Save the file as UTF-8.")
        yield line


def _csv_rows(stream: BinaryIO, file: Path, columns: Sequence[str]) -> Iterator[tuple]:
    """Yield rows of CSV, and go on after an unclosed quotation mark."""
    rest = _lines(stream, file)
    first = next(rest, "")
    named = NAMED_DELIMITER.match(first)
    delimiter = named[1] if named else _delimiter(first, columns)
    lines: list[str] = []  # the lines of the row being read
    every = (lines.append(line) or line for line in chain([first], rest))
    reader = csv.reader(every, delimiter=delimiter, strict=True)
    if named:
        next(reader)
    header = next(reader, [])
    places = _check_columns(file, header, columns)
    while True:
        lines.clear()
        try:
            if (fields := next(reader, None)) is None:
                return
        except csv.Error as error:  # the reader continues at the next line
            first = reader.line_num - len(lines) + 1
            problem = (
                f"The CSV is invalid from line {first:,} ({error}). Close each quotation, "
                "and double the quotation marks inside it."
            )
            for number, line in enumerate(lines, first):
                yield number, {"sentence": line} if line.strip() else None, problem
            continue
        if not any(map(str.strip, fields)):
            yield reader.line_num, None, None
            continue
        text = "".join(lines)
        problem = ODD_MARKS if text.count('"') % 2 else None  # for instance at the end of a malformed row
        if len(fields) != len(header):
            has = f"This row has {len(fields)} columns, but the header has {len(header)}"
            marks = DELIMITERS.get(delimiter, f"{delimiter!r}")
            problem = problem or f"{has}. Put quotation marks around each sentence that contains {marks}."
        cells = {"sentence": text} if problem else {column: fields[at] for column, at in places.items()}
        yield reader.line_num, cells, problem


def _delimiter(header: str, columns: Sequence[str]) -> str:
    """Return the first delimiter that gives the wanted columns, or a comma."""
    for delimiter in DELIMITERS:
        try:
            names = next(csv.reader([header], delimiter=delimiter, strict=True), [])
        except csv.Error:  # a quotation mark inside a name
            continue
        if _has_columns(map(_plain, names), columns):
            return delimiter
    return ","


def _line_rows(stream: BinaryIO, file: Path, columns: Sequence[str]) -> Iterator[tuple]:
    keys = '"sentence" and "word"' if columns is COLUMNS else '"sentence" or "text"'
    for number, line in enumerate(_lines(stream, file), 1):
        cells, problem = {"sentence": line.rstrip("\r\n")}, None
        if line.strip() and file.suffix.lower() != PLAIN:
            try:
                values = {**json.loads(line, object_pairs_hook=each_key_once)}
                named = ((_plain(name), value) for name, value in values.items())
                cells = each_key_once([(name, value) for name, value in named if name in columns])
            except (TypeError, ValueError, RecursionError) as error:  # TypeError: not an object
                problem = f"Expected a JSON object with the keys {keys} ({error})."
        yield number, cells if line.strip() else None, problem


def _parquet_rows(stream: BinaryIO, file: Path, columns: Sequence[str]) -> Iterator[tuple]:
    table, number = pq.ParquetFile(stream), count(1)
    names = table.schema_arrow.names
    found = {column: names[place] for column, place in _check_columns(file, names, columns).items()}
    for batch in table.iter_batches(1024, columns=list(found.values())):
        for cells in batch.to_pylist():
            yield next(number), {column: cells[name] for column, name in found.items()}, None


def _plain(name: str) -> str:
    return name.strip().casefold()


def _has_columns(names: Iterable[str], columns: Sequence[str]) -> bool:
    found = {*names}
    return bool(found & {"sentence", "text"}) if columns is SEARCHED else {"sentence", "word"} <= found


def _check_columns(file: Path, header: Sequence[str], columns: Sequence[str]) -> dict[str, int]:
    """Return each wanted column's index. Raises InputError."""
    names = list(map(_plain, header))
    found = [name for name in names if name in columns]
    if not _has_columns(names, columns) or len(found) > len({*found}):
        expected = (
            "the columns sentence, word and (if known) sense, each once (the option --word replaces the column word)"
        )
        if columns is SEARCHED:
            expected = "a column named sentence or text"
        got = ", ".join(map(str.strip, header))[:200].encode("utf-8", "backslashreplace").decode() or "nothing"
        remedy = (
            "Rename your columns, and use each name once. In CSV, separate the columns by commas, semicolons or tabs."
        )
        raise InputError(f"{file}: expected {expected}, got {got}. {remedy}")
    return {name: names.index(name) for name in found}
