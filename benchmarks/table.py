"""Time selfattn and a reference computation, and write RESULTS.md."""

import platform
import re
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

RESULTS = Path(__file__).parent / "RESULTS.md"
PACKAGES = ("torch", "transformers", "streamlit", "altair", "vl-convert-python")
HEAD = """# Results

Most tables compare selfattn with a reference on the same machine. `ratio` is the first column of numbers divided by the second
(the median over the rounds). Ratios hardly depend on the machine. The column `limit` has the row's limit, and "yes" if the row
meets this limit. `make bench` writes this file, and `python -m benchmarks NAME` replaces one table.
"""


@dataclass(frozen=True)
class Row:
    """One row of a table. ours: selfattn's value. theirs: the reference's value, or a limit. ratio: ours / theirs."""

    what: str
    ours: str
    theirs: str
    ratio: float | None  # None without a reference
    rounds: int
    bound: float | None = None  # the largest allowed ratio
    aim: str = ""  # another limit, as text with "yes" or "NO"

    def line(self) -> str:
        shown = "" if self.ratio is None else f"{self.ratio:.3g}"
        kept = "" if self.bound is None or self.ratio is None else held(self.ratio, self.bound)
        bound = self.aim if self.bound is None else f"at most {self.bound:g}: {kept}"
        return f"| {self.what} | {self.ours} | {self.theirs} | {shown} | {bound} | {self.rounds} |"


def compare(
    what: str, ours: Callable[[], object], theirs: Callable[[], object], rounds: int, bound: float | None = None
) -> Row:
    """Time both functions, in alternating order."""
    ours(), theirs()
    pairs = []
    for number in range(rounds):
        order = (ours, theirs) if number % 2 else (theirs, ours)
        seconds = {function: timed(function) for function in order}
        pairs.append((seconds[ours], seconds[theirs]))
    return paired(what, pairs, duration, bound)


def paired(
    what: str, pairs: Sequence[tuple[float, float]], shown: Callable[[float], str], bound: float | None = None
) -> Row:
    """Return a row of medians. pairs: selfattn's and the reference's value in each round."""
    ours, theirs = (statistics.median(side) for side in zip(*pairs))
    ratio = statistics.median(first / second for first, second in pairs)
    return Row(what, shown(ours), shown(theirs), ratio, len(pairs), bound)


def spread(what: str, sides: Sequence[Sequence[float]], aim: float | None = None, most: float | None = None) -> Row:
    """Return a row with the median and 95th percentile of the times of one or two checkouts.

    aim, most: limits in seconds on the median (aim) and the 95th percentile (most) of the first checkout's times.
    """
    times = [sorted(each) for each in sides]
    middle = [statistics.median(each) if each else None for each in times]
    high = [each[min(len(each) - 1, int(0.95 * len(each)))] if each else None for each in times]
    shown = ["none" if a is None else f"{duration(a)} ({duration(b)})" for a, b in zip(middle, high)]
    aims = [] if middle[0] is None else [("median", middle[0], aim), ("95th percentile", high[0], most)]
    named = [
        f"{name} at most {duration(limit)}: {held(value, limit)}" for name, value, limit in aims if limit is not None
    ]
    return beside(what, middle, shown, len(times[0]), "; ".join(named))


def beside(what: str, figures: Sequence[float | None], shown: Sequence[str], rounds: int, aim: str = "") -> Row:
    """Return a row for one or two checkouts.

    figures: one number for each checkout, to compute their ratio. If a number is None, the row has no ratio.
    shown: a text for each checkout.
    """
    ratio = figures[0] / figures[1] if len(figures) == 2 and None not in figures else None
    return Row(what, shown[0], shown[1] if len(shown) == 2 else "", ratio, rounds, aim=aim)


def held(value: float, limit: float) -> str:
    return "yes" if value <= limit else "NO"


def timed(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def duration(seconds: float) -> str:
    """Format seconds in s or ms, with three significant digits."""
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


def size(count: float) -> str:
    """Format bytes in kB or MB, with three significant digits."""
    return f"{count / 1e6:.3g} MB" if count >= 1e6 else f"{count / 1e3:.3g} kB"


def show(name: str, title: str, columns: tuple[str, str], rows: Iterable[Row], command: str) -> str:
    """Print each row, and return the section for RESULTS.md."""
    ours, theirs = columns
    lines = [f"| {title} | {ours} | {theirs} | ratio | limit | rounds |", "|---|---|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    for row in rows:
        lines.append(row.line())
        print(lines[-1], flush=True)
    return f"## {name}\n\n{made_by(command)}\n\n" + "\n".join(lines) + "\n"


def made_by(command: str) -> str:
    """Return a line with the command, the date, the machine and the packages' versions."""
    today = datetime.now(UTC).date().isoformat()
    machine = f"{torch.get_num_threads()} threads on {platform.system()} {platform.machine()}"
    found = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            found.append(f"{package} {version(package)}")
    return f"`{command}`, {today}, {machine}; {', '.join(found)}."


def keep(section: str) -> None:
    """Add or replace a section of RESULTS.md."""
    text = RESULTS.read_text("utf-8") if RESULTS.exists() else HEAD
    parts = re.split(r"(?m)^(?=## )", text)[1:]
    sections = {part.split("\n", 1)[0]: part.strip() + "\n" for part in [*parts, section]}
    RESULTS.write_text("\n".join([HEAD, *(sections[name] for name in sorted(sections))]), "utf-8")
