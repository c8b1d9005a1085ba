"""A class: fifty real sessions at one server, half of them on the same example: seconds of each action, and memory.

    python -m benchmarks.soak [--visitors 50] [--minutes 10] [--thought 4] [--greedy 0]

Its table goes to RESULTS.md. The server and its visitors share the machine. What is left in memory once all have gone is
measured where the visitors stayed for at least as long as the server remembers them.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import psutil

from benchmarks.table import keep, made_by
from tests.soak.server import trouble_in, warm_server
from tests.soak.session import Session
from tests.soak.visitors import Soak, soak

REMEMBERED = 150.0  # seconds; Streamlit keeps a closed session for 120, in case its visitor comes back


def main() -> None:
    """Run the soak that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument(
        "--thought", type=float, default=4.0, help="seconds between two actions of a visitor, on average"
    )
    parser.add_argument(
        "--greedy", type=int, default=0, help="visitors who ask for the costliest thing without a pause"
    )
    options = parser.parse_args()
    section = _section(options, *_run(options, 0))
    if options.greedy:  # once without them and once with
        section = f"{section}\nWith {options.greedy} greedy:\n\n{_run(options, options.greedy)[0].table()}\n"
    print(section)
    keep(section)


def _run(options: argparse.Namespace, greedy: int) -> tuple[Soak, str]:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        with warm_server(log) as (address, pid):
            found = soak(address, pid, options.visitors, options.minutes * 60, options.thought, greedy=greedy)
            left = _memory_left(address, pid) if options.minutes * 60 >= REMEMBERED else ""
        found.trouble.extend(trouble_in(log))
    if found.trouble:
        print(*found.trouble, sep="\n")
    return found, left


def _memory_left(address: str, pid: int) -> str:
    time.sleep(REMEMBERED)
    with Session(address) as session:  # a page that runs also clears up
        session.open()
    return f" {REMEMBERED:.0f} s after all have left: {psutil.Process(pid).memory_info().rss / 1e6:.0f} MB."


def _section(options: argparse.Namespace, found: Soak, left: str) -> str:
    limits = "".join(f"{name}={value} " for name, value in sorted(os.environ.items()) if name.startswith("SELFATTN_"))
    greedy = f" --greedy {options.greedy}" if options.greedy else ""
    asked = f"--visitors {options.visitors} --minutes {options.minutes:g} --thought {options.thought:g}{greedy}"
    end = options.minutes * 60
    memory = ", ".join(f"{_memory(found, part * end / 5, (part + 1) * end / 5):.0f}" for part in range(5))
    trouble = "none" if not found.trouble else f"{len(found.trouble)}, the first: {found.trouble[0]}"
    return (
        f"## soak{greedy}\n\n{made_by(f'{limits}python -m benchmarks.soak {asked}')}\n\n{options.visitors} visitors, half of "
        f"them on the same example, {options.thought:g} s of thought, the server and all visitors on this machine. "
        f"Errors: {trouble}. Resident memory: "
        f"{found.memory[0][1]:.0f} MB as they come; mean of each fifth of the time: {memory} MB; after the first half it "
        f"changes by {found.growth(end / 2):+.0f} MB an hour.{left}\n\n"
        f"{found.table()}\n"
    )


def _memory(found: Soak, start: float, stop: float) -> float:
    held = [mb for seconds, mb in found.memory if start <= seconds < stop]
    return sum(held) / max(1, len(held))


if __name__ == "__main__":
    main()
