"""Tables of any size, read a chunk at a time: CSV, JSON Lines and Parquet, one file or a folder of them.

A first pass cuts the input into chunks and remembers where each begins, so that a job that goes on, or a worker on
another machine, starts reading at the right byte. Nothing is ever held beyond one chunk.
"""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

import pyarrow.parquet as pq

COLUMNS = ("sentence", "word", "sense")  # sense may be missing
KINDS = (".csv", ".jsonl", ".ndjson", ".parquet")
LINE_LIMIT = 2**24  # bytes; a longer line is no table's


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
        for offset, line, n_rows in _starts(file, part_rows):
            chunks.append(Chunk(len(chunks), str(file), first_row, n_rows, offset, line))
            first_row += n_rows
    return chunks


def rows_of(file: Path) -> Iterator[Row]:
    """The rows of one CSV or JSON Lines file, read as they are asked for. Raises InputError."""
    try:
        for number, (_, row) in enumerate(_text_rows(file, 0, 0)):
            yield row._replace(row=number)
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{file} can't be read: {error}") from None


def read_chunk(chunk: Chunk) -> Iterator[Row]:
    """The chunk's rows, in order."""
    file = Path(chunk.file)
    rows = _parquet_rows if file.suffix.lower() == ".parquet" else _text_rows
    try:
        for number, (_, row) in zip(range(chunk.n_rows), rows(file, chunk.offset, chunk.line)):
            yield row._replace(row=chunk.first_row + number)
    except (OSError, ValueError, NotImplementedError) as error:  # pyarrow finds a damaged page only when it gets there
        raise InputError(f"{file} is damaged: {error}") from None


def _starts(file: Path, part_rows: int) -> Iterator[tuple[int, int, int]]:
    """(offset, lines before, number of rows) of each chunk of one file."""
    try:
        if file.suffix.lower() == ".parquet":
            table = pq.ParquetFile(file)
            _check_columns(file, table.schema_arrow.names)
            total = table.metadata.num_rows
            for offset in range(0, total, part_rows):
                yield offset, offset, min(part_rows, total - offset)
            return
        offset, line, n_rows = 0, 0, 0
        position, last_line = 0, 0
        for position, row in _text_rows(file, 0, 0):
            n_rows += 1
            last_line = row.line
            if n_rows == part_rows:
                yield offset, line, n_rows
                offset, line, n_rows = position, last_line, 0
        if n_rows:
            yield offset, line, n_rows
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{file} can't be read: {error}") from None


def _parquet_rows(file: Path, offset: int, line: int) -> Iterator[tuple[int, Row]]:
    table = pq.ParquetFile(file)
    columns = [name for name in COLUMNS if name in table.schema_arrow.names]
    before = 0
    for group in range(table.num_row_groups):
        in_group = table.metadata.row_group(group).num_rows
        if before + in_group > offset:  # row groups that end before the chunk are never opened
            for batch in table.iter_batches(1024, row_groups=[group], columns=columns):
                skipped = min(max(0, offset - before), batch.num_rows)
                before += batch.num_rows
                for values in batch.slice(skipped).to_pylist():
                    line += 1
                    yield line, Row(0, str(file), line, values["sentence"], values["word"], values.get("sense"))
        else:
            before += in_group


def _text_rows(file: Path, offset: int, line: int) -> Iterator[tuple[int, Row]]:
    """The rows from a byte offset on (0: the file's beginning), each with the offset of the byte after it."""
    with open(file, "rb") as stream:
        rows = _json_rows if file.suffix.lower() in (".jsonl", ".ndjson") else _csv_rows
        yield from rows(file, stream, offset, line)


class _Lines:
    """A file's lines as text, with the place after the last one, and whether any was not valid UTF-8."""

    def __init__(self, file: Path, stream: BinaryIO, offset: int, line: int):
        self.file, self.stream, self.position, self.number, self.invalid = file, stream, offset, line, False
        stream.seek(offset)

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


def _csv_rows(file: Path, stream: BinaryIO, offset: int, line: int) -> Iterator[tuple[int, Row]]:
    lines = _Lines(file, stream, 0, 0)
    try:
        header = [name.strip() for name in next(csv.reader(lines), [])]
    except csv.Error as error:
        raise InputError(f"{file} has no header line that is valid CSV: {error}.") from None
    _check_columns(file, header)
    places = {name: header.index(name) for name in COLUMNS if name in header}
    if offset:
        lines = _Lines(file, stream, offset, line)
    reader = csv.reader(lines)
    while True:
        lines.invalid = False
        problem = None
        try:
            fields = next(reader, None)
        except csv.Error as error:
            fields, problem = [""] * len(header), f"Not valid CSV ({error}). Is a quotation mark not closed?"
        if fields is None:
            return
        if not fields:  # an empty line
            continue
        if len(fields) != len(header):
            problem = (
                f"This row has {len(fields)} columns, the header {len(header)}. "
                "A sentence with commas needs quotation marks around it."
            )
        elif lines.invalid:
            problem = "Not valid UTF-8. Save the file as UTF-8."
        values = {name: fields[place] if place < len(fields) else None for name, place in places.items()}
        yield lines.position, _row(file, lines.number, values, problem)


def _json_rows(file: Path, stream: BinaryIO, offset: int, line: int) -> Iterator[tuple[int, Row]]:
    lines = _Lines(file, stream, offset, line)
    for text in lines:
        if not text.strip():
            continue
        problem = None
        try:
            values = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            values, problem = {}, f"Not valid JSON ({error})."
        if not isinstance(values, dict):
            values, problem = {}, 'Expected an object with the keys "sentence" and "word" on each line.'
        if lines.invalid:
            problem = "Not valid UTF-8. Save the file as UTF-8."
            lines.invalid = False
        yield lines.position, _row(file, lines.number, values, problem)


def _row(file: Path, line: int, values: dict, problem: str | None) -> Row:
    return Row(0, str(file), line, values.get("sentence"), values.get("word"), values.get("sense"), problem)


def _check_columns(file: Path, names: list[str]) -> None:
    missing = [name for name in COLUMNS[:2] if name not in names]
    if missing:
        got = ", ".join(names)[:200] or "nothing"
        raise InputError(f"{file}: expected the columns sentence, word and (if known) sense, got {got}.")
