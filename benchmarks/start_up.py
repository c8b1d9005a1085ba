"""Measure how long the dashboard takes to start and to complete its first page."""

import subprocess
import sys
from collections.abc import Iterator
from functools import partial

from benchmarks.server import start_server
from benchmarks.session import Session
from benchmarks.table import Row, duration, paired, timed

TITLE = "Start-up"
COLUMNS = ("selfattn", "reference")
ROUNDS = 3
IMPORTS = "import streamlit, torch, transformers"
LOAD = "from selfattn import load_encoder; load_encoder()"


def main(small: bool = False) -> Iterator[Row]:
    rounds = range(1 if small else ROUNDS)
    imports, loads = ([timed(partial(_python, code)) for _ in rounds] for code in (IMPORTS, LOAD))
    answers, charts, pages = zip(*(_started() for _ in rounds))
    yield paired(f"time until the server answers; reference: `{IMPORTS}`", list(zip(answers, imports)), duration)
    yield paired(f"time until the first chart is sent; reference: `{LOAD}`", list(zip(charts, loads)), duration)
    yield paired(f"time until the first page is complete; reference: `{LOAD}`", list(zip(pages, loads)), duration)


def _python(code: str) -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def _started() -> tuple[float, float, float]:
    """Return the seconds until the server answers, sends a chart, and completes the page."""
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
