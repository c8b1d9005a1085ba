"""`python -m benchmarks [NAME ...]`: run these benchmarks, or all; print their tables, and keep them in RESULTS.md."""

import argparse
import subprocess
from functools import partial
from importlib import import_module
from inspect import signature
from pathlib import Path

from benchmarks.table import keep, show

NAMES = ("base_size", "capture", "hiding", "load", "scan_rate", "start_up", "visitors")


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}; none: all")
    parser.add_argument("--against", type=Path, metavar="FOLDER", help="another checkout, beside this one (visitors)")
    parser.add_argument("--dry", action="store_true", help="leave RESULTS.md as it is")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    for name in options.names or NAMES:
        benchmark = import_module(f"benchmarks.{name}")
        rows, command = benchmark.main, f"python -m benchmarks {name}"
        if options.against and signature(rows).parameters:
            rows, command = partial(rows, options.against.resolve()), f"{command} --against {_version(options.against)}"
        section = show(name, benchmark.TITLE, benchmark.COLUMNS, rows(), command)
        if not options.dry:
            keep(section)
        print(flush=True)


def _version(checkout: Path) -> str:
    """The commit of a checkout, for a table: a folder's name says nothing later."""
    command = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
