"""A stranger's table, read within limits: rows, characters of a cell and in all, and for Parquet memory and time.

A Parquet file of 462 bytes can hold 500 MB of text, and what it says of itself needn't be true. So a process of its own reads it
(parquet_child.py), which the system stops.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from selfattn.encoders.errors import TextError
from selfattn.scan.tables import InputError, Row, rows_of
from selfattn.settings import Settings

CHILD = Path(__file__).with_name("parquet_child.py")

_one_at_a_time = threading.Lock()  # so that many uploads together take no more memory than one


def read_upload(path: Path) -> list[Row]:
    """The rows of a CSV, JSON Lines or Parquet file. Raises InputError, or TextError beyond the operator's limits."""
    with closing(_parquet_rows(path) if path.suffix.lower() == ".parquet" else rows_of(path)) as rows:
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
    command = [sys.executable, "-I", str(CHILD), str(path), str(Settings.read().max_characters)]
    # The system's own allocator, and one store of it, asks for no more address space than it uses.
    environment = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with _one_at_a_time, subprocess.Popen(command, env=environment, **pipes) as child:
        try:
            for line, answer in enumerate(map(json.loads, child.stdout), start=1):
                if "unreadable" in answer:
                    raise InputError(f"{path} can't be read: {answer['unreadable']}")
                yield Row(line - 1, str(path), line, **answer)
            if child.wait() != 0:
                raise InputError(f"{path} takes more memory or time than a table of its size needs. Save it as CSV.")
        finally:
            child.kill()
