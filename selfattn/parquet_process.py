"""A stranger's Parquet file, read in a process with bounds: uploads.py asks for its rows, a few at a time."""

import os
from collections.abc import Iterator
from itertools import repeat
from typing import Any

from selfattn.encoders.bounded_process import limit_memory
from selfattn.encoders.errors import brief

COLUMNS = ("sentence", "word", "sense")  # as in tables.py: a program that starts fast imports little of the project
MEMORY = 256 * 2**20  # bytes more than Python and pyarrow take
BATCH = 64  # rows


class _Opened:
    """The one file of this process."""

    rows: Iterator[list[dict]]


def open_table(path: str, longest: int) -> None:
    """Of a text, no more than shows that it is longer than `longest` characters is handed over. Raises ValueError."""
    # The system's own allocator asks for no more address space than it uses.
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    import pyarrow as pa
    import pyarrow.parquet as pq

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    limit_memory(MEMORY)
    try:
        table = pq.ParquetFile(path)
        names = table.schema_arrow.names
        if missing := [name for name in COLUMNS[:2] if name not in names]:
            raise ValueError(
                f"expected the columns sentence, word and (if known) sense; {' and '.join(missing)} missing."
            )
        if twice := [name for name in COLUMNS if names.count(name) > 1]:
            raise ValueError(f"the column {twice[0]} stands in it twice; keep one of them.")
    except (OSError, NotImplementedError, KeyError, TypeError) as error:
        raise ValueError(str(error)[:300]) from None
    _Opened.rows = _rows(table, [name for name in COLUMNS if name in names], longest)


def next_rows() -> list[dict]:
    """Some more rows: each one's cells, and its problem or None. None are left where it is empty. Raises ValueError."""
    try:
        return next(_Opened.rows, [])
    except (OSError, NotImplementedError, KeyError, TypeError) as error:
        raise ValueError(str(error)[:300]) from None


def cells(batch: Any) -> Iterator[tuple[dict, str | None]]:
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


def _rows(table, columns: list[str], longest: int) -> Iterator[list[dict]]:
    for batch in table.iter_batches(BATCH, columns=columns, use_threads=False):
        if batch.num_rows:
            yield [_row(values, problem, longest) for values, problem in cells(batch)]


def _row(values: dict, problem: str | None, longest: int) -> dict:
    odd = next((name for name in values if not isinstance(values[name], str | int | float | None)), None)
    if odd is not None and problem is None:
        problem = f"The column {odd} holds no text here ({type(values[odd]).__name__})."
    if problem is not None:
        return {**dict.fromkeys(COLUMNS), "problem": problem}
    short = {name: cell[: longest + 1] if isinstance(cell, str) else cell for name, cell in values.items()}
    return {"sense": None, **short, "problem": None}
