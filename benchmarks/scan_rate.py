"""The corpus job beside the bare batched forward pass over the same rows, and with --sources beside itself without."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.models import bundled
from benchmarks.scan import bare, scanned, write_table
from benchmarks.table import Row, compare

TITLE = "A corpus job"
COLUMNS = ("the whole job", "bare batched pass")
ROWS, FEW = 400, 200


def main() -> Iterator[Row]:
    """Two rows; benchmarks/scan.py has more of the first."""
    encoder = bundled()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "table.csv")
        write_table(table, ROWS)
        what = f"{ROWS:,} rows, one process"
        yield compare(what, lambda: scanned(encoder, table), lambda: bare(encoder, table), 3)
        write_table(table, FEW)
        what = f"{FEW:,} rows, one process, with `--sources` beside the job without"
        yield compare(what, lambda: scanned(encoder, table, sources=True), lambda: scanned(encoder, table), 3)
