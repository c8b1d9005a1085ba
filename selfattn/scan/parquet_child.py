"""Prints a stranger's Parquet file as JSON Lines, within bounded memory and time. uploads.py starts it, nothing imports it."""

import json
import sys
from collections.abc import Iterator
from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq

COLUMNS = ("sentence", "word", "sense")  # as in tables.py: a program that starts fast imports nothing of the project
MEMORY = 256 * 2**20  # bytes more than Python and pyarrow take
SECONDS = 20  # of a processor
BATCH = 64  # rows


def bound_memory_and_time() -> None:
    """From here on the system ends this process where it takes too much. (macOS and Windows have no such limits.)"""
    with suppress(ImportError, OSError, ValueError):
        import resource

        with open("/proc/self/statm") as file:
            most = int(file.read().split()[0]) * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def rows(path: str, longest: int) -> Iterator[dict]:
    """Each row's cells; of a text, no more than shows that it is longer than `longest` characters."""
    table = pq.ParquetFile(path)
    columns = [name for name in COLUMNS if name in table.schema_arrow.names]
    if missing := [name for name in COLUMNS[:2] if name not in columns]:
        raise ValueError(f"expected the columns sentence, word and (if known) sense; {' and '.join(missing)} missing.")
    for batch in table.iter_batches(BATCH, columns=columns, use_threads=False):
        for values in batch.to_pylist():
            odd = next((n for n in columns if not isinstance(values[n], str | int | float | None)), None)
            if odd is None:
                cells = {n: cell[: longest + 1] if isinstance(cell, str) else cell for n, cell in values.items()}
                yield {"sense": None, **cells, "problem": None}
            else:
                problem = f"The column {odd} holds no text here ({type(values[odd]).__name__})."
                yield {**dict.fromkeys(COLUMNS), "problem": problem}


if __name__ == "__main__":
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    bound_memory_and_time()
    try:
        for row in rows(sys.argv[1], int(sys.argv[2])):
            print(json.dumps(row))
    except (OSError, ValueError, NotImplementedError, KeyError, TypeError) as error:
        print(json.dumps({"unreadable": str(error)[:300]}))
