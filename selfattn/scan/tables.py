"""Tables and plain text of any size, read a chunk at a time: CSV, JSON Lines, Parquet, .txt, one file or a folder of them.

A first pass cuts the input into chunks and remembers where each begins, so that a job that goes on, or a worker on
another machine, starts reading at the right byte. Nothing is ever held beyond one chunk.
"""

import csv
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow.parquet as pq

from selfattn.encoders.errors import brief
from selfattn.encoders.untrusted_files import each_key_once
from selfattn.words import character_spans, fold, words_in

COLUMNS = ("sentence", "word", "sense")  # sense may be missing
SEARCHED = ("sentence", "text", "sense")  # where words are searched for: one of the first two
KINDS = (".csv", ".jsonl", ".ndjson", ".parquet")
PLAIN = ".txt"  # one text a line
LINE_LIMIT = 2**24  # bytes; a longer line is no table's
SURROGATE = re.compile("[\ud800-\udfff]")
QUOTED_LINES, QUOTED_BYTES = 1000, 2**20  # of a record in quotation marks; beyond, one of them was never closed


class InputError(ValueError):
    """The input can't be read at all. The message names the file and the remedy."""


class Row(NamedTuple):
    """One row of the input, as it stands there."""

    row: int  # counted over the whole input, from 0
    file: str
    line: int  # where it ends in its file, from 1; in Parquet the row's number, from 1
    sentence: object
    word: object
    sense: object
    problem: str | None = None  # why there is nothing to find in it
    words: tuple[str, ...] = ()  # of those searched for, the ones that stand in it


@dataclass(frozen=True)
class Chunk:
    """A run of rows of one file: the unit of work, and one part of the output."""

    index: int
    file: str
    first_row: int  # counted over the whole input
    n_rows: int
    offset: int  # where it begins in the file: a byte, or in Parquet a row
    line: int  # lines before it in the file
    n_skipped: int  # empty lines among its rows
    digest: str  # of its rows: they are measured as they were planned, or not at all
    n_without: int = 0  # texts among its rows that have none of the words searched for


def words_to_find(words: Sequence[str]) -> tuple[str, ...]:
    """Words to search texts for, each once, case-folded and sorted. Raises InputError for what is not one word."""
    for word in words:
        if (parts := len(character_spans(word))) != 1:
            raise InputError(f"Expected one word to search for, got {word[:80]!r} ({parts} words or signs).")
    return tuple(sorted({fold(word.strip()) for word in words}))


def input_files(source: Path, words: Sequence[str] = ()) -> list[Path]:
    """The file, or the folder's tables by name; with words to search for, plain text too. Raises InputError for none."""
    kinds = (*KINDS, PLAIN) if words else KINDS
    if source.is_file():
        files = [source]
    elif source.is_dir():
        files = sorted(
            path
            for path in source.rglob("*")
            if path.is_file()
            and path.suffix.lower() in kinds
            and not any(part.startswith(".") for part in path.relative_to(source).parts)
        )
    else:
        raise InputError(f"There is no file or folder {source}.")
    if not files or any(path.suffix.lower() not in kinds for path in files):
        remedy = "" if words else f" ({PLAIN} needs --word)"
        raise InputError(
            f"Expected a file ending in {', '.join(kinds)} or a folder with such files, got {source}{remedy}."
        )
    return files


def plan(files: list[Path], part_rows: int, words: Sequence[str] = ()) -> list[Chunk]:
    """Cut the files into chunks of at most `part_rows` rows. Raises InputError for a file that can't be read.

    words: of `words_to_find`; every text is searched for them, and the tables need no column word.
    """
    chunks: list[Chunk] = []
    first_row = 0
    for file in files:
        offset, line = 0, 0
        rows = _read(file, offset, line, bool(words))
        while (first := next(rows, None)) is not None:
            digest, n_rows, n_skipped, n_without = hashlib.sha256(), 0, 0, 0
            for step in chain([first], islice(rows, part_rows - 1)):
                digest.update(_as_bytes(step.row))
                n_rows += 1
                n_skipped += step.skipped
                n_without += _searched(step.row, words) is None
            chunk = Chunk(
                index=len(chunks), file=str(file), first_row=first_row, n_rows=n_rows, offset=offset, line=line,
                n_skipped=n_skipped, digest=digest.hexdigest()[:16], n_without=n_without,
            )  # fmt: skip
            chunks.append(chunk)
            offset, line, first_row = step.stop, step.row.line, first_row + n_rows
    return chunks


def rows_of(file: Path, searched: bool = False) -> Iterator[Row]:
    """The rows of one file, read as they are asked for. searched: of any texts, without words. Raises InputError."""
    for number, step in enumerate(_read(file, 0, 0, searched)):
        yield step.row._replace(row=number)


def read_chunk(chunk: Chunk, words: Sequence[str] = ()) -> Iterator[Row]:
    """The chunk's rows, in order; where words are searched for, those that have one.

    Raises InputError at their end if they aren't what was planned.
    """
    digest, rows = hashlib.sha256(), _read(Path(chunk.file), chunk.offset, chunk.line, bool(words))
    for number, step in enumerate(islice(rows, chunk.n_rows)):
        digest.update(_as_bytes(step.row))
        if (row := _searched(step.row, words)) is not None:
            yield row._replace(row=chunk.first_row + number)
    if digest.hexdigest()[:16] != chunk.digest:
        raise InputError(
            f"{chunk.file} was changed while it was read: rows {chunk.first_row:,} to "
            f"{chunk.first_row + chunk.n_rows - 1:,} are others now. Put back what it was, or begin again."
        )


def _searched(row: Row, words: Sequence[str]) -> Row | None:
    """The row with the words that stand in its text, None where none does; what can't be read stays, to be rejected."""
    if not words or row.problem or not isinstance(row.sentence, str):
        return row
    found = words_in(row.sentence, words)
    return row._replace(word=", ".join(found), words=found) if found else None


class _Step(NamedTuple):
    row: Row
    stop: int  # where the next row begins: a byte, or in Parquet a row
    skipped: int = 0  # empty lines before it


def _read(file: Path, offset: int, line: int, searched: bool) -> Iterator[_Step]:
    """The rows from an offset on (0: the file's beginning), not yet numbered."""
    columns = SEARCHED if searched else COLUMNS
    try:
        if file.suffix.lower() == ".parquet":
            yield from _parquet_rows(file, offset, columns)
            return
        with open(file, "rb") as stream:
            rows = _csv_rows if file.suffix.lower() == ".csv" else _line_rows
            yield from rows(file, stream, offset, line, columns)
    except InputError:
        raise
    except (OSError, ValueError, NotImplementedError) as error:  # pyarrow finds a damaged page only when it gets there
        raise InputError(f"{file} can't be read: {error}. Is it whole?") from None


def _as_bytes(row: Row) -> bytes:
    return ascii((row.line, row.sentence, row.word, row.sense, row.problem is None)).encode()


def _parquet_rows(file: Path, offset: int, columns: Sequence[str]) -> Iterator[_Step]:
    table = pq.ParquetFile(file)
    _check_columns(file, table.schema_arrow.names, columns)
    columns = [name for name in columns if name in table.schema_arrow.names]
    before = 0
    for group in range(table.num_row_groups):
        in_group = table.metadata.row_group(group).num_rows
        if before + in_group > offset:  # row groups that end before the offset are never opened
            for batch in table.iter_batches(1024, row_groups=[group], columns=columns):
                for line, (values, problem) in enumerate(_cells(batch), before + 1):
                    if line > offset:
                        yield _Step(_row(file, line, values, problem), stop=line)
                before += batch.num_rows
        else:
            before += in_group


def _cells(batch: Any) -> Iterator[tuple[dict, str | None]]:
    """Each row's cells, and what is wrong with one that Python can't have: bytes that are no text, a date beyond its own."""
    try:
        return zip(batch.to_pylist(), repeat(None))
    except Exception:  # whatever pyarrow makes of such a cell: one at a time says which it is
        return (_cells_one_by_one(batch, number) for number in range(batch.num_rows))


def _cells_one_by_one(batch: Any, number: int) -> tuple[dict, str | None]:
    values, problem = {}, None
    for name in batch.schema.names:
        try:
            values[name] = batch[name][number].as_py()
        except Exception as error:
            problem = f"The column {name} can't be read here ({brief(error)})."
    return values, problem


class _Lines:
    """A file's lines as text, with the place after the last one, and whether any was not valid UTF-8."""

    def __init__(self, file: Path, stream: BinaryIO, offset: int, line: int):
        self.file, self.stream, self.invalid = file, stream, False
        self.seek(offset, line)

    def seek(self, position: int, number: int) -> None:
        """Go on reading at another place."""
        self.position, self.number = position, number
        self.stream.seek(position)

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        data = self.stream.readline(LINE_LIMIT)
        if not data:
            raise StopIteration
        if len(data) == LINE_LIMIT:
            raise InputError(f"{self.file}: line {self.number + 1} is longer than {LINE_LIMIT:,} bytes. Is it a table?")
        self.position += len(data)
        self.number += 1
        if self.position == len(data):
            if data[:2] in (b"\xff\xfe", b"\xfe\xff") or 4 * data.count(0) >= len(data):
                raise InputError(f"{self.file} is written in UTF-16 or UTF-32. Expected UTF-8: save it as that.")
            data = data.removeprefix(b"\xef\xbb\xbf")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            self.invalid = True
            return data.decode("utf-8", errors="backslashreplace")


def _csv_rows(file: Path, stream: BinaryIO, offset: int, line: int, columns: Sequence[str]) -> Iterator[_Step]:
    lines = _Lines(file, stream, 0, 0)
    header, problem = _csv_record(lines)
    if problem:
        raise InputError(f"{file} has no header line that is valid CSV. {problem}")
    header = [name.strip() for name in header or []]
    _check_columns(file, header, columns)
    places = {name: header.index(name) for name in columns if name in header}
    if offset:
        lines.seek(offset, line)
    skipped = 0
    while True:
        fields, problem = _csv_record(lines, len(header))
        if fields is None:
            return
        if not fields:  # an empty line
            skipped += 1
            continue
        values = {"sentence": fields} if isinstance(fields, str) else {n: fields[at] for n, at in places.items()}
        yield _Step(_row(file, lines.number, values, problem), lines.position, skipped)
        skipped = 0


def _csv_record(lines: _Lines, n_columns: int | None = None) -> tuple[list[str] | str | None, str | None]:
    """The next record's fields (None at the end, none on an empty line) and what is wrong with it.

    A malformed record gives up its first line only, which comes as it stands, and reading goes on at the next: a quotation
    mark that is never closed costs its own line. So that it is found, what stands between quotation marks has a bound.
    """
    lines.invalid = False
    offset, before, first, n_marks = lines.position, lines.number, None, 0

    def own_lines() -> Iterator[str]:
        nonlocal first, n_marks
        for text in lines:
            if lines.number - before > QUOTED_LINES or (first and lines.position - offset > QUOTED_BYTES):
                raise csv.Error(f"more than {QUOTED_LINES:,} lines or {QUOTED_BYTES:,} bytes between quotation marks")
            first = first or (text, lines.position, lines.number)
            n_marks += text.count('"')
            yield text

    fields, problem = None, None
    try:
        fields = next(csv.reader(own_lines(), strict=True), None)
    except csv.Error as error:
        problem = f"Not valid CSV ({error}). Is a quotation mark not closed, or one within others not doubled?"
    if not problem and n_marks % 2:  # the end of a malformed record, for instance
        problem = "This row has a quotation mark without its other half. Put marks around the sentence, and double those in it."
    elif fields and n_columns and len(fields) != n_columns:
        problem = (
            f"This row has {len(fields)} columns, the header {n_columns}. "
            "A sentence with commas needs quotation marks around it."
        )
    if problem:
        if (n_lines := lines.number - before) > 1:
            problem += f" It would go on over {n_lines:,} lines; the others are read as rows of their own."
        fields, *place = first
        lines.seek(*place)
    elif lines.invalid:
        problem = "Not valid UTF-8. Save the file as UTF-8."
    return fields, problem


def _line_rows(file: Path, stream: BinaryIO, offset: int, line: int, columns: Sequence[str]) -> Iterator[_Step]:
    """A row a line: JSON, or plain text."""
    lines = _Lines(file, stream, offset, line)
    skipped = 0
    for text in lines:
        if not text.strip():
            skipped += 1
            continue
        values, problem = {"sentence": text.rstrip("\r\n")}, None
        if file.suffix.lower() != PLAIN:
            values, problem = _json_values(text, columns)
        if lines.invalid:
            problem = "Not valid UTF-8. Save the file as UTF-8."
            lines.invalid = False
        yield _Step(_row(file, lines.number, values, problem), lines.position, skipped)
        skipped = 0


def _json_values(text: str, columns: Sequence[str]) -> tuple[dict, str | None]:
    try:
        values = json.loads(text, object_pairs_hook=each_key_once)
    except (ValueError, RecursionError) as error:  # of an integer with more digits than Python reads, too
        return {"sentence": text}, f"Not valid JSON ({error})."
    if not isinstance(values, dict):
        keys = '"sentence" and "word"' if columns is COLUMNS else '"sentence" or "text"'
        return {"sentence": text}, f"Expected an object with the keys {keys} on each line."
    return {name: values[name] for name in columns if name in values}, None


def _row(file: Path, line: int, values: dict, problem: str | None = None) -> Row:
    for name, cell in values.items():
        if not isinstance(cell, str | int | float | None):
            problem = problem or f"The column {name} holds no text here ({type(cell).__name__})."
            values = values | {name: None}
        elif isinstance(cell, str) and SURROGATE.search(cell):
            problem = problem or f"The column {name} is not valid Unicode: it has half of a surrogate pair. Remove it."
    sentence = values.get("sentence", values.get("text"))
    return Row(0, str(file), line, sentence, values.get("word"), values.get("sense"), problem)


def _check_columns(file: Path, names: list[str], columns: Sequence[str]) -> None:
    for name in columns:
        if names.count(name) > 1:
            raise InputError(
                f"{file} has {names.count(name)} columns {name}, expected one. Rename or remove the others."
            )
    wanted, expected = set(COLUMNS[:2]) <= {*names}, "the columns sentence, word and (if known) sense (or --word)"
    if columns is SEARCHED:
        wanted, expected = bool(set(SEARCHED[:2]) & {*names}), "a column sentence or text"
    if not wanted:
        got = ", ".join(names)[:200] or "nothing"
        raise InputError(f"{file}: expected {expected}, got {got}.")
