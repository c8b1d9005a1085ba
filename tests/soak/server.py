"""A dashboard of one's own whose whole log is kept: Streamlit prints the tracebacks of pages to its standard output."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.soak.session import Session

TROUBLE = ("Traceback", "ERROR", "Exception")


def streamlit(port: int) -> list[str]:
    """The command that starts the dashboard of the folder it runs in."""
    return [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port), "--server.headless=true"]


@contextmanager
def warm_server(
    log: Path, folder: Path | None = None, command: Callable[[int], list[str]] = streamlit
) -> Iterator[tuple[str, int]]:
    """A running dashboard with its first page done: its address and its process id. `log` gets all it says."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with open(log, "wb") as out:
        process = subprocess.Popen(
            command(port), cwd=folder or Path(__file__).parents[2], env=dict(os.environ), stdout=out, stderr=out
        )
    address = f"http://localhost:{port}"
    try:
        _wait(address)
        with Session(address) as session:
            session.open()
        yield address, process.pid
    finally:
        process.terminate()
        process.wait(10)


def trouble_in(log: Path) -> list[str]:
    """The lines of a log that speak of an error."""
    lines = log.read_text("utf-8", errors="replace").splitlines()
    return [line for line in lines if any(word in line for word in TROUBLE)]


def _wait(address: str) -> None:
    for _ in range(240):
        try:
            if urllib.request.urlopen(f"{address}/_stcore/health", timeout=2).read() == b"ok":
                return
        except OSError:
            time.sleep(0.25)
    raise RuntimeError("The dashboard did not start within a minute.")
