"""Measure the memory of `selfattn scan`, and compare its time with that of plain forward passes."""

import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import torch

from benchmarks.models import bundled
from benchmarks.table import Row, compare, duration, size
from selfattn import Encoder
from selfattn.encoders.batches import BATCH_TOKENS, length_batches
from selfattn.examples import labelled_sentences
from selfattn.scan.job import PART_ROWS, Job, run

TITLE = "`selfattn scan`"
COLUMNS = ("scan", "reference: plain forward passes")
ROWS, FEW, ROUNDS = 1500, 100, 5
SIZES = (1_000, 10_000, 30_000)  # rows, for the memory measurements
BOUND = 1.053  # the scan must reach 0.95 of the plain rate


def main(small: bool = False) -> Iterator[Row]:
    """Measure memory first, because a child process's peak includes the memory of this process, and this process grows."""
    rows, few, rounds, sizes = (8, 8, 1, SIZES[:0]) if small else (ROWS, FEW, ROUNDS, SIZES)
    for count in sizes:
        yield _peak(count)
    encoder = bundled()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "table.csv")
        write_table(table, rows)
        what = f"{rows:,} rows: time"
        yield compare(what, lambda: scanned(encoder, table), lambda: bare(encoder, table), rounds, BOUND)
        write_table(table, few)
        what = f"{few:,} rows with `--sources`: time; reference: a scan without `--sources`"
        yield compare(what, lambda: scanned(encoder, table, sources=True), lambda: scanned(encoder, table), rounds)


def write_table(path: Path, rows: int) -> None:
    """Write a table of `rows` different labelled sentences."""
    sentences = labelled_sentences()
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["sentence", "word", "sense"])
        for number in range(rows):
            row = sentences.iloc[number % len(sentences)]
            writer.writerow([f"{row.sentence} {number}", row.word, row.sense])


def bare(encoder: Encoder, path: Path) -> None:
    """Tokenise the rows, and run plain forward passes in the scan's batches."""
    with open(path, encoding="utf-8", newline="") as stream:
        texts = [row["sentence"] for row in csv.DictReader(stream)]
    for first in range(0, len(texts), PART_ROWS):
        tokens = [encoder.tokenize(text) for text in texts[first : first + PART_ROWS]]
        for batch in length_batches(tokens, lambda one: len(one.ids), BATCH_TOKENS["cpu"]):
            with torch.no_grad():
                encoder.model(**encoder.inputs(batch))


def scanned(encoder: Encoder, path: Path, sources: bool = False) -> None:
    """Scan the table at `path` with `encoder`, which is already loaded."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(Job, "load", lambda job: encoder):
        run(Job(str(path), f"{folder}/scan", sources=sources))


def _peak(rows: int) -> Row:
    """Scan `rows` rows, and return the peak memory and the time."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        write_table(path, rows)
        command = [sys.executable, "-m", "selfattn.scan", str(path), "--output", f"{folder}/scan", "--device", "cpu"]
        start = time.perf_counter()
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": "."}) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"The scan ended with exit status {process.returncode}, expected 0.")
        seconds = duration(time.perf_counter() - start)
        return Row(f"{rows:,} rows ({seconds}): peak memory", size(usage.ru_maxrss * 1024), "", None, 1)
