"""Start a dashboard, and search its log for errors."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.session import Session

ROOT = Path(__file__).parents[1]
TROUBLE = ("Traceback", "ERROR", "Exception")


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def streamlit(port: int) -> list[str]:
    return [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port), "--server.headless=true"]


def start_server(
    command: Callable[[int], list[str]] = streamlit, folder: Path = ROOT, log: Any = None, **environment: str
) -> tuple[subprocess.Popen, str]:
    """Start a dashboard, and return its process and address. command: returns the command line for a port."""
    port = free_port()
    process = subprocess.Popen(
        command(port), cwd=folder, env={**os.environ, **environment}, stdout=log or subprocess.DEVNULL, stderr=log
    )
    address = f"http://localhost:{port}"
    for _ in range(240):
        try:
            if urllib.request.urlopen(f"{address}/_stcore/health", timeout=2).read() == b"ok":
                return process, address
        except OSError:
            time.sleep(0.25)
    process.kill()
    raise RuntimeError("The dashboard did not start within a minute.")


@contextmanager
def warm_server(
    log: Path, folder: Path = ROOT, command: Callable[[int], list[str]] = streamlit
) -> Iterator[tuple[str, int]]:
    """Start a dashboard and open its first page. Yield the dashboard's address and process id."""
    with open(log, "wb") as out:
        process, address = start_server(command, folder, out)
    try:
        with Session(address) as session:
            session.open()
        yield address, process.pid
    finally:
        process.terminate()
        process.wait(10)


def trouble_in(log: Path) -> list[str]:
    """Return the lines of a log that mention an error."""
    lines = log.read_text("utf-8", errors="replace").splitlines()
    return [line for line in lines if any(word in line for word in TROUBLE)]
