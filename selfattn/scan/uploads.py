"""A stranger's table, read within limits: rows, characters of a cell and in all, and for Parquet memory and time.

A Parquet file of 462 bytes can hold 500 MB of text, and what it says of itself needn't be true. So a process with bounds reads it
(parquet_process.py).
"""

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from selfattn.encoders.bounded_process import BoundedProcess, Exceeded
from selfattn.encoders.errors import TextError
from selfattn.scan.tables import InputError, Row, rows_of
from selfattn.settings import Settings

CHILD = "selfattn.parquet_process"
SECONDS = 20.0  # for a whole table

_one_at_a_time = threading.Lock()  # so that many uploads together take no more memory than one


def read_upload(path: Path, searched: bool = False) -> list[Row]:
    """The rows of a CSV, JSON Lines or Parquet file. Raises InputError, or TextError beyond the operator's limits.

    searched: not of a Parquet file; a column sentence or text is enough.
    """
    with closing(_parquet_rows(path) if path.suffix.lower() == ".parquet" else rows_of(path, searched)) as rows:
        return list(_within_limits(rows))


def _within_limits(rows: Iterator[Row]) -> Iterator[Row]:
    """The rows one by one: nothing is read after the one that goes beyond a limit."""
    limits, characters = Settings.read(), 0
    for count, row in enumerate(rows, start=1):
        cells = [len(cell) for cell in (row.sentence, row.word, row.sense) if isinstance(cell, str)]
        characters += sum(cells)
        if count > limits.max_rows:
            raise _beyond("rows", limits.max_rows)
        if max(cells, default=0) > limits.max_characters:
            raise _beyond(f"characters in a cell (line {row.line:,})", limits.max_characters)
        if characters > limits.max_table_characters:
            raise _beyond("characters in all", limits.max_table_characters)
        yield row


def _beyond(what: str, most: int) -> TextError:
    return TextError(
        f"This table has more {what} than this server takes, which is {most:,}. Take a part of it, or run the corpus job "
        "on your own machine (python -m selfattn.scan)."
    )


def _parquet_rows(path: Path) -> Iterator[Row]:
    process, ends = BoundedProcess(), time.monotonic() + SECONDS

    def asked(function: str, *arguments: Any) -> Any:
        try:
            return process.call(f"{CHILD}:{function}", *arguments, seconds=max(ends - time.monotonic(), 0.1))
        except Exceeded:
            raise InputError(
                f"{path} takes more memory or time than a table of its size needs. Save it as CSV."
            ) from None
        except (ValueError, RuntimeError) as error:
            raise InputError(f"{path} can't be read: {error}") from None

    with _one_at_a_time:
        try:
            asked("open_table", str(path), Settings.read().max_characters)
            line = 0
            while rows := asked("next_rows"):
                for row in rows:
                    line += 1
                    yield Row(line - 1, str(path), line, **row)
        finally:
            process.end()
