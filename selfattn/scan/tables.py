"""Tables of any size, read a chunk at a time: CSV, JSON Lines and Parquet, one file or a folder of them.

A first pass cuts the input into chunks and remembers where each begins, so that a job that goes on, or a worker on
another machine, starts reading at the right byte. Nothing is ever held beyond one chunk.
"""

import csv
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import pyarrow.parquet as pq

COLUMNS = ("sentence", "word", "sense")  # sense may be missing
KINDS = (".csv", ".jsonl", ".ndjson", ".parquet")
LINE_LIMIT = 2**24  # bytes; a longer line is no table's
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


def input_files(source: Path) -> list[Path]:
    """The file, or the folder's CSV, JSON Lines and Parquet files by name. Raises InputError for none."""
    if source.is_file():
        files = [source]
    elif source.is_dir():
        files = sorted(
            path
            for path in source.rglob("*")
            if path.is_file()
            and path.suffix.lower() in KINDS
            and not any(part.startswith(".") for part in path.relative_to(source).parts)
        )
    else:
        raise InputError(f"There is no file or folder {source}.")
    if not files or any(path.suffix.lower() not in KINDS for path in files):
        raise InputError(f"Expected a file ending in {', '.join(KINDS)} or a folder with such files, got {source}.")
    return files


def plan(files: list[Path], part_rows: int) -> list[Chunk]:
    """Cut the files into chunks of at most `part_rows` rows. Raises InputError for a file that can't be read."""
    chunks: list[Chunk] = []
    first_row = 0
    for file in files:
        offset, line = 0, 0
        rows = _read(file, offset, line)
        while (first := next(rows, None)) is not None:
            digest, n_rows, n_skipped = hashlib.sha256(), 0, 0
            for step in chain([first], islice(rows, part_rows - 1)):
                digest.update(_as_bytes(step.row))
                n_rows += 1
                n_skipped += step.skipped
            chunk = Chunk(
                index=len(chunks), file=str(file), first_row=first_row, n_rows=n_rows, offset=offset, line=line,
                n_skipped=n_skipped, digest=digest.hexdigest()[:16],
            )  # fmt: skip
            chunks.append(chunk)
            offset, line, first_row = step.stop, step.row.line, first_row + n_rows
    return chunks


def rows_of(file: Path) -> Iterator[Row]:
    """The rows of one file, read as they are asked for. Raises InputError."""
    for number, step in enumerate(_read(file, 0, 0)):
        yield step.row._replace(row=number)


def read_chunk(chunk: Chunk) -> Iterator[Row]:
    """The chunk's rows, in order. Raises InputError at their end if they aren't what was planned."""
    digest = hashlib.sha256()
    for number, step in enumerate(islice(_read(Path(chunk.file), chunk.offset, chunk.line), chunk.n_rows)):
        digest.update(_as_bytes(step.row))
        yield step.row._replace(row=chunk.first_row + number)
    if digest.hexdigest()[:16] != chunk.digest:
        raise InputError(
            f"{chunk.file} was changed while it was read: rows {chunk.first_row:,} to "
            f"{chunk.first_row + chunk.n_rows - 1:,} are others now. Put back what it was, or begin again."
        )


class _Step(NamedTuple):
    row: Row
    stop: int  # where the next row begins: a byte, or in Parquet a row
    skipped: int = 0  # empty lines before it


def _read(file: Path, offset: int, line: int) -> Iterator[_Step]:
    """The rows from an offset on (0: the file's beginning), not yet numbered."""
    try:
        if file.suffix.lower() == ".parquet":
            yield from _parquet_rows(file, offset)
            return
        with open(file, "rb") as stream:
            rows = _json_rows if file.suffix.lower() in (".jsonl", ".ndjson") else _csv_rows
            yield from rows(file, stream, offset, line)
    except InputError:
        raise
    except (OSError, ValueError, NotImplementedError) as error:  # pyarrow finds a damaged page only when it gets there
        raise InputError(f"{file} can't be read: {error}. Is it whole?") from None


def _as_bytes(row: Row) -> bytes:
    return ascii((row.line, row.sentence, row.word, row.sense, row.problem is None)).encode()


def _parquet_rows(file: Path, offset: int) -> Iterator[_Step]:
    table = pq.ParquetFile(file)
    _check_columns(file, table.schema_arrow.names)
    columns = [name for name in COLUMNS if name in table.schema_arrow.names]
    before = 0
    for group in range(table.num_row_groups):
        in_group = table.metadata.row_group(group).num_rows
        if before + in_group > offset:  # row groups that end before the offset are never opened
            for batch in table.iter_batches(1024, row_groups=[group], columns=columns):
                for line, values in enumerate(batch.to_pylist(), before + 1):
                    if line > offset:
                        row = Row(0, str(file), line, values["sentence"], values["word"], values.get("sense"))
                        yield _Step(row, stop=line)
                before += batch.num_rows
        else:
            before += in_group


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
            data = data.removeprefix(b"\xef\xbb\xbf")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            self.invalid = True
            return data.decode("utf-8", errors="backslashreplace")


def _csv_rows(file: Path, stream: BinaryIO, offset: int, line: int) -> Iterator[_Step]:
    lines = _Lines(file, stream, 0, 0)
    header, problem = _csv_record(lines)
    if problem:
        raise InputError(f"{file} has no header line that is valid CSV. {problem}")
    header = [name.strip() for name in header or []]
    _check_columns(file, header)
    places = {name: header.index(name) for name in COLUMNS if name in header}
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


def _json_rows(file: Path, stream: BinaryIO, offset: int, line: int) -> Iterator[_Step]:
    lines = _Lines(file, stream, offset, line)
    skipped = 0
    for text in lines:
        if not text.strip():
            skipped += 1
            continue
        problem = None
        try:
            values = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            values, problem = {"sentence": text}, f"Not valid JSON ({error})."
        if not isinstance(values, dict):
            values, problem = {"sentence": text}, 'Expected an object with the keys "sentence" and "word" on each line.'
        if lines.invalid:
            problem = "Not valid UTF-8. Save the file as UTF-8."
            lines.invalid = False
        yield _Step(_row(file, lines.number, values, problem), lines.position, skipped)
        skipped = 0


def _row(file: Path, line: int, values: dict, problem: str | None) -> Row:
    return Row(0, str(file), line, values.get("sentence"), values.get("word"), values.get("sense"), problem)


def _check_columns(file: Path, names: list[str]) -> None:
    missing = [name for name in COLUMNS[:2] if name not in names]
    if missing:
        got = ", ".join(names)[:200] or "nothing"
        raise InputError(f"{file}: expected the columns sentence, word and (if known) sense, got {got}.")
