"""The corpus job against the bare forward pass over the same batches, paired in one run, and its memory.

    python -m benchmarks.scan [--rows 3000] [--rounds 7] [--memory 1000,10000,100000] [--model FOLDER]

Both sides tokenise the same rows and run the same length-bucketed batches; the job also reads the table, finds the word,
computes its rows in all heads and writes Parquet, the bare side does nothing else. The rounds alternate, and the median of
the rounds' ratios counts. Memory is each job's peak, in a process of its own. Its table goes to RESULTS.md.
"""

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

import torch

from benchmarks.table import keep, made_by
from selfattn import load_encoder
from selfattn.encoders.batches import BATCH_TOKENS, length_batches
from selfattn.examples import labelled_sentences
from selfattn.scan.job import PART_ROWS, Job, run


def write_table(path: Path, rows: int) -> None:
    """The labelled sentences over and over, each numbered so that no two rows are the same."""
    sentences = labelled_sentences()
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["sentence", "word", "sense"])
        for number in range(rows):
            row = sentences.iloc[number % len(sentences)]
            writer.writerow([f"{row.sentence} {number}", row.word, row.sense])


def bare(encoder, path: Path) -> float:
    """Seconds for tokenising and the bare forward pass over the batches that the job makes."""
    start = time.perf_counter()
    with open(path, encoding="utf-8", newline="") as stream:
        texts = [row["sentence"] for row in csv.DictReader(stream)]
    for first in range(0, len(texts), PART_ROWS):
        tokens = [encoder.tokenize(text) for text in texts[first : first + PART_ROWS]]
        for batch in length_batches(tokens, lambda one: len(one.ids), BATCH_TOKENS["cpu"]):
            with torch.no_grad():
                encoder.model(**encoder.inputs(batch))
    return time.perf_counter() - start


def scanned(encoder, path: Path, sources: bool = False) -> float:
    """Seconds for the whole job on the same rows, reading and writing included; loading the encoder is not."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(Job, "load", lambda job: encoder):
        start = time.perf_counter()
        run(Job(str(path), f"{folder}/scan", sources=sources))
        return time.perf_counter() - start


def throughput(rows: int, rounds: int) -> str:
    """The rates and their ratio, in words."""
    encoder = load_encoder(device="cpu")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        write_table(path, rows)
        bare(encoder, path)  # warms up
        pairs = []
        for number in range(rounds):
            first, second = (bare, scanned) if number % 2 else (scanned, bare)
            seconds = {first: first(encoder, path), second: second(encoder, path)}
            pairs.append((rows / seconds[scanned], rows / seconds[bare]))
            print(f"round {number + 1}: {pairs[-1][0]:7.1f} rows/s, bare {pairs[-1][1]:7.1f}", flush=True)
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    rate = statistics.median(ours for ours, _ in pairs)
    return (
        f"Median of {rounds} rounds over {rows:,} rows: {rate:.0f} rows a second, {ratio:.2f} of the bare forward pass "
        "over the same batches (at least 0.85)."
    )


def memory(sizes: list[int], model: str | None) -> str:
    """The peak memory of a job of each size, as a table in Markdown."""
    lines = ["| rows | peak memory | time |", "|---|---|---|"]
    for rows in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "table.csv")
            write_table(path, rows)
            command = [
                sys.executable,
                "-m",
                "selfattn.scan",
                str(path),
                "--output",
                f"{folder}/scan",
                "--device",
                "cpu",
            ]
            command += ["--model", model] if model else []
            start = time.perf_counter()
            with subprocess.Popen(command, stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": "."}) as process:
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                raise SystemExit(f"The job ended with {process.returncode}.")
            seconds = time.perf_counter() - start
            lines.append(f"| {rows:,} | {usage.ru_maxrss * 1024 / 1e6:.0f} MB | {seconds:.0f} s |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    """Measure what the command line asks for and keep it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--memory", default="1000,10000,100000", help="sizes of the memory test")
    parser.add_argument("--model", help="another encoder for the memory test: a tiny one makes 10^5 rows quick")
    options = parser.parse_args()
    command = f"python -m benchmarks.scan --rows {options.rows} --rounds {options.rounds} --memory {options.memory}"
    command += f" --model {options.model}" if options.model else ""
    # First, while this process is small: a child's peak counts from what its parent held when it began.
    held = memory([int(size) for size in options.memory.split(",")], options.model)
    rate = throughput(options.rows, options.rounds)
    keep(f"## scan\n\n{made_by(command)}\n\n{rate}\n\n{held}\n")


if __name__ == "__main__":
    main()
