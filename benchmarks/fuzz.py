"""All generated inputs of the long fuzz tests, and what became of them: `python -m benchmarks.fuzz`; goes to RESULTS.md."""

import re
import subprocess
import sys

from benchmarks.table import keep, made_by

LEAST = 10_000
COMMAND = (
    "-m",
    "pytest",
    "-q",
    "--timeout",
    "3600",
    "-n",
    "2",
    "--dist",
    "loadfile",
    "-p",
    "tests.fuzz.summary",
    "-m",
    "long",
    "tests/fuzz",
)


def main() -> None:
    """Run them and keep the count, or say what failed."""
    done = subprocess.run([sys.executable, *COMMAND], stdout=subprocess.PIPE, text=True)
    found = re.search(r"fuzz: ([\d,]+) generated inputs", done.stdout)
    if done.returncode or not found or int(found[1].replace(",", "")) < LEAST:
        raise SystemExit(f"{done.stdout[-4000:]}\nExpected at least {LEAST:,} generated inputs and no failure.")
    outcome = done.stdout.strip().splitlines()[-1].strip("= ")
    section = f"## fuzz\n\n{made_by('python -m benchmarks.fuzz')}\n\n{found[1]} generated inputs: {outcome}.\n"
    print(section)
    keep(section)


if __name__ == "__main__":
    main()
