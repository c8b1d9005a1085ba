"""Run benchmarks, and write RESULTS.md: `python -m benchmarks [NAME ...]`."""

import argparse
import subprocess
from importlib import import_module
from inspect import signature
from pathlib import Path

from benchmarks.table import keep, show

# Run scan first: the peak memory it measures includes this process's memory, which the other benchmarks increase.
NAMES = ("scan", "base_size", "hiding", "load", "soak", "start_up", "visitors")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)} (default: all)")
    parser.add_argument(
        "--against", type=Path, metavar="FOLDER", help="a checkout to compare with (only for 'soak' and 'visitors')"
    )
    parser.add_argument("--minutes", type=float, help="how many minutes the benchmark 'soak' runs (default: 20)")
    parser.add_argument("--small", action="store_true", help="run few rounds, and don't write RESULTS.md")
    parser.add_argument("--dry", action="store_true", help="don't write RESULTS.md")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"expected one of {', '.join(NAMES)}, got {', '.join(sorted(unknown))}")
    for name in options.names or NAMES:
        benchmark = import_module(f"benchmarks.{name}")
        taken = signature(benchmark.main).parameters
        given = {key: value for key, value in vars(options).items() if value and key in taken}
        asked = {key: _version(value) if key == "against" else value for key, value in given.items()}
        command = " ".join([f"python -m benchmarks {name}", *(f"--{key} {value}" for key, value in asked.items())])
        section = show(name, benchmark.TITLE, benchmark.COLUMNS, benchmark.main(**given), command)
        if not (options.dry or options.small):
            keep(section)
        print(flush=True)


def _version(checkout: Path) -> str:
    command = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
