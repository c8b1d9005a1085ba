"""`python -m benchmarks [NAME ...]`: run these benchmarks, or all; print their tables, and keep them in RESULTS.md."""

import argparse
from importlib import import_module

from benchmarks.table import keep, show

NAMES = (
    "base_size",
    "capture",
    "hiding",
    "memory",
    "removal",
    "png",
    "probe",
    "one_visitor",
    "painting",
    "scan_rate",
    "start_up",
)


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}; none: all")
    parser.add_argument("--dry", action="store_true", help="leave RESULTS.md as it is")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    for name in options.names or NAMES:
        benchmark = import_module(f"benchmarks.{name}")
        section = show(name, benchmark.TITLE, benchmark.COLUMNS, benchmark.main(), f"python -m benchmarks {name}")
        if not options.dry:
            keep(section)
        print(flush=True)


if __name__ == "__main__":
    main()
