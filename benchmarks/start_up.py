"""From the command to the first picture: the dashboard, beside the bare imports and the load of its encoder alone."""

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.server import start_server
from benchmarks.session import Session
from benchmarks.table import Row, duration, paired, timed

TITLE = "Start-up"
COLUMNS = ("selfattn", "beside it")
ROUNDS = 3
BARE = "import streamlit, torch, transformers"
PARTS = """
import time
marks = [time.perf_counter()]
from selfattn import load_encoder
marks.append(time.perf_counter())
encoder = load_encoder()
marks.append(time.perf_counter())
encoder.encode("The bank of the river.")
marks.append(time.perf_counter())
print(*(after - before for before, after in zip(marks, marks[1:])))
"""
NAMES = (
    "importing the library, torch and transformers",
    "loading the encoder, its proof included",
    "the first sentence",
)


def main(small: bool = False) -> Iterator[Row]:
    """The server's answer, the first chart's data, and the whole first page, from a cold process."""
    rounds = 1 if small else ROUNDS
    bare = [timed(lambda: _python(BARE)) for _ in range(rounds)]
    parts = [_parts() for _ in range(rounds)]
    loaded = [sum(each[:2]) for each in parts]
    answers, charts, pages = zip(*(_started() for _ in range(rounds)))
    imports = "importing streamlit, torch and transformers"
    yield paired(f"until the server answers, beside {imports}", list(zip(answers, bare)), duration)
    first = "until the first chart is sent, beside loading the encoder in Python"
    yield paired(first, list(zip(charts, loaded)), duration)
    yield paired("until the whole first page is sent, beside the same", list(zip(pages, loaded)), duration)
    for name, seconds in zip(NAMES, zip(*parts)):
        yield paired(f"of that, {name}, beside the time until the first chart", list(zip(seconds, charts)), duration)


def _python(code: str) -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def _parts() -> list[float]:
    """Seconds of each part of NAMES in a process of its own."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PARTS], check=True, capture_output=True, text=True)
    return [float(seconds) for seconds in done.stdout.split()]


def _started() -> tuple[float, float, float]:
    """Seconds from the command until the server answers, the first chart is there, and the page is whole."""
    found = []
    seconds = timed(lambda: found.append(start_server()))
    process, address = found[0]
    try:
        with Session(address) as session:
            run = session.open()
    finally:
        process.terminate()
        process.wait(10)
    return seconds, seconds + run.first_chart, seconds + run.seconds
