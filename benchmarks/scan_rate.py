"""The corpus job's rows a second, beside the bare batched forward pass over the same rows."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.models import bundled
from benchmarks.scan import bare, scanned, write_table
from benchmarks.table import Row, compare

TITLE = "A corpus job"
COLUMNS = ("the whole job", "bare batched pass")
ROWS = 400


def main() -> Iterator[Row]:
    """One row; benchmarks/scan.py has more."""
    encoder = bundled()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "table.csv")
        write_table(table, ROWS)
        what = f"{ROWS:,} rows, one process"
        yield compare(what, lambda: scanned(encoder, table), lambda: bare(encoder, table), 3)
