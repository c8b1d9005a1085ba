"""Read an uploaded table, within the limits in the server's settings.

Parquet is refused: 462 bytes can hold 500 MB of text.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from selfattn.encoders.errors import TextError
from selfattn.scan.tables import KINDS, InputError, Row, read_rows
from selfattn.settings import Settings

TAKEN = tuple(kind for kind in KINDS if kind != ".parquet")
ELSEWHERE = "scan the table on your own machine with the command selfattn scan"
LINE = 24  # bytes per allowed character: three cells, six bytes each ("\u00e9"), and some room
EACH_LINE = re.compile(rb"[^\r\n]*(?:\r\n?|\n|\Z)")


def read_upload(data: bytes, suffix: str) -> list[Row]:
    """Return the table's rows.

    Raises InputError if the table can't be read, TextError if the table exceeds a limit in the server's settings.
    """
    if suffix not in TAKEN:
        raise InputError(
            f"Expected a file ending in {', '.join(TAKEN)}, got {suffix or 'a file without an ending'}. "
            f"Save the table as CSV, or {ELSEWHERE}, which reads Parquet."
        )
    most = LINE * Settings.read().max_characters
    # Check lengths before parsing: parsed empty lists take 23 times as much memory as their text.
    for number, line in enumerate(EACH_LINE.finditer(data), start=1):
        if line.end() - line.start() > most:
            raise _beyond(f"bytes in a line (line {number:,})", most)
    name = f"The table{suffix}"
    try:
        return list(_within_limits(read_rows(Path(name), content=data)))
    except InputError as error:
        raise InputError(str(error).replace(name, "The table")) from None


def read_table(data: bytes, suffix: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a table of the usable rows, and a table of the other rows with a column `reason`. Both have a column `line`."""
    rows, columns = read_upload(data, suffix), ["line", "sentence", "word", "sense", "pair"]
    good = pd.DataFrame([[getattr(row, name) for name in columns] for row in rows if not row.problem], columns=columns)
    broken = [[r.line, *map(_as_shown, (r.sentence, r.word, r.sense, r.pair)), r.problem] for r in rows if r.problem]
    return good, pd.DataFrame(broken, columns=[*columns, "reason"])


def _as_shown(cell: object) -> str | None:
    """Return text, with question marks for lone surrogates."""
    return None if cell is None else str(cell).encode("utf-8", "replace").decode("utf-8")


def _within_limits(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield rows. Raises TextError at the first row beyond a limit."""
    limits, characters = Settings.read(), 0
    for count, row in enumerate(rows, start=1):
        cells = [len(cell) for cell in (row.sentence, row.word, row.sense, row.pair) if isinstance(cell, str)]
        characters += sum(cells)
        if count > limits.max_rows:
            raise _beyond("rows", limits.max_rows)
        if max(cells, default=0) > limits.max_characters:
            raise _beyond(f"characters in a cell (line {row.line:,})", limits.max_characters)
        if characters > limits.max_table_characters:
            raise _beyond("characters", limits.max_table_characters)
        yield row


def _beyond(what: str, most: int) -> TextError:
    return TextError(
        f"This table has more than {most:,} {what}, the limit of this server. Upload a part of the table, or {ELSEWHERE}."
    )
