"""Peak memory at 512 tokens above the loaded model: recording, beside eager attention that returns all its weights."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import torch

from benchmarks.models import base_size, ids
from benchmarks.table import Row, paired, size
from selfattn.encoders.capture import IMPLEMENTATION, Recorder, run

TITLE = "Peak memory above the loaded model, base size"
COLUMNS = ("recorded", "the other")
ROUNDS = 3


def main() -> Iterator[Row]:
    """Against eager with its weights, and against the bare fast pass."""
    peaks = {kind: [_measured(kind) for _ in range(ROUNDS)] for kind in ("recorded", "eager", "bare")}
    yield paired(
        "512 tokens, beside eager with output_attentions=True", list(zip(peaks["recorded"], peaks["eager"])), size
    )
    yield paired("512 tokens, beside the bare pass", list(zip(peaks["recorded"], peaks["bare"])), size)


def _measured(kind: str) -> float:
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.memory", kind]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1])


def peak(kind: str) -> int:
    """Bytes by which this process's peak rises in one pass of this kind."""
    model = base_size("eager" if kind == "eager" else IMPLEMENTATION)
    options = {"output_attentions": True} if kind == "eager" else {}
    with torch.no_grad():
        model(**ids(8))  # what the first pass of all allocates for good
        before = forget_peak()
        recorder = Recorder() if kind == "recorded" else None
        kept = run(model, ids(512), recorder, **options)
    assert kept is not None
    return memory("VmHWM") - before


def forget_peak() -> int:
    """Make Linux count the peak from now on, for building the model took more than running it; bytes resident now."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


def memory(field: str) -> int:
    return int(re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024


if __name__ == "__main__":
    print(peak(sys.argv[1]))
