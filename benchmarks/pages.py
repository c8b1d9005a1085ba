"""Processor time of Python for a rerun of every page, of this checkout beside another one, each in a process of its own.

    python -m benchmarks.pages --against DIR [--rounds 20] [--only ADDRESS ...]

A rerun with nothing changed, and one with another head chosen each time where the page lets a head be chosen, by
Streamlit's AppTest: what the script's thread uses, as on a server that has compiled the pages. The two checkouts take
turns, page by page and round by round, after a warm-up. Without --against only this checkout (or --root) is measured.
"""

import argparse
import ast
import json
import os
import statistics
import subprocess
import sys
import time
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

HERE = Path(__file__).parents[1]
HEADS = [f"L{layer} H{head}" for head in range(12) for layer in range(6)]  # of the bundled encoder
MARK = "rerun: "  # before each answer: what else a page prints is no answer


class Checkout:
    """A process that has one checkout's pages and reruns them on demand."""

    def __init__(self, root: Path):
        command = [sys.executable, "-W", "ignore", str(Path(__file__).resolve()), "--root", str(root), "--serve"]
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        self._process = subprocess.Popen(
            command, cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True,
        )  # fmt: skip

    def rerun(self, address: str, head: str | None = None) -> float | None:
        """Seconds of one rerun of the page; None where it lets no head be chosen. The first of a page opens it."""
        self._process.stdin.write(json.dumps([address, head]) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith(MARK):
                answer = json.loads(line.removeprefix(MARK))
                if isinstance(answer, str):
                    raise SystemExit(f"{address or 'the first page'}: {answer}")
                return answer
        raise SystemExit(f"The process of {self._process.args[4]} has ended.")

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.wait(60)


def serve(root: Path) -> None:
    """Answer each (address, head) on standard input with the seconds of a rerun."""
    sys.path[0] = str(root)  # in place of this file's folder: the checkout's own modules
    from streamlit.runtime.scriptrunner.script_cache import ScriptCache
    from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
    from streamlit.testing.v1 import AppTest, app_test, local_script_runner

    compiled = ScriptCache()  # as a server keeps it; AppTest would compile the pages at every run
    local_script_runner.ScriptCache = app_test.ScriptCache = lambda: compiled
    run_script, used = ScriptRunner._run_script, []

    def timed(*arguments: object) -> None:
        began = time.thread_time()
        run_script(*arguments)
        used.append(time.thread_time() - began)

    ScriptRunner._run_script = timed
    files = navigation(root)
    opened: dict[str, AppTest] = {}
    for line in sys.stdin:
        address, head = json.loads(line)
        try:
            if address not in opened:
                app = AppTest.from_file(str(root / "app.py"), default_timeout=600).run()
                opened[address] = app.switch_page(files[address]).run() if address else app
            print(MARK + json.dumps(_rerun(opened[address], head, used)), flush=True)
        except Exception as error:  # the other process needs to know, whatever it is
            print(MARK + json.dumps(repr(error)), flush=True)


def _rerun(app: "AppTest", head: str | None, used: list[float]) -> float | None:
    if head is not None:
        if "head" not in [slider.key for slider in app.select_slider]:
            return None
        app.select_slider(key="head").set_value(head)
    used.clear()
    app.run()
    if app.exception:
        raise RuntimeError(app.exception[0].message)
    return sum(used)


def navigation(root: Path) -> dict[str, str]:
    """The pages of a checkout's app.py, address to file; "" is the first page."""
    tree = ast.parse((root / "app.py").read_text("utf-8"))
    listed = next(node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "PAGES")
    entries = [entry for section in ast.literal_eval(listed).values() for entry in section]
    return {address or "": f"pages/{file}" for file, _, address, *_ in entries}


def measure(checkouts: list[Checkout], address: str, rounds: int, heads: bool) -> list[list[float]] | None:
    """The seconds of each round, a list a checkout; None where no head can be chosen."""
    choices = cycle(HEADS)
    seconds = [[checkout.rerun(address, next(choices) if heads else None)] for checkout in checkouts]  # the warm-up
    if [None] in seconds:
        return None
    seconds = [[] for _ in checkouts]
    for number in range(rounds):
        head = next(choices) if heads else None
        order = range(len(checkouts)) if number % 2 else reversed(range(len(checkouts)))
        for place in order:
            seconds[place].append(checkouts[place].rerun(address, head))
    return seconds


def main() -> None:
    """Measure what the command line names and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=HERE, help="the checkout to measure; default: this one")
    parser.add_argument("--against", type=Path, help="another checkout, the old one")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", nargs="+", metavar="ADDRESS", help='addresses of pages; "" is the first one')
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.root.resolve())
        return
    roots = [root.resolve() for root in (options.against, options.root) if root]
    checkouts = [Checkout(root) for root in roots]
    print("| Rerun of | old | new | new / old | rounds |\n|---|---|---|---|---|", flush=True)
    for address in options.only or navigation(roots[-1]):
        for heads in (False, True):
            seconds = measure(checkouts, address, options.rounds, heads)
            if seconds is None:
                continue
            shown = [f"{1000 * statistics.median(rounds):.0f} ms" for rounds in seconds]
            ratio = f"{statistics.median(new / old for old, new in zip(*seconds)):.2f}" if len(seconds) == 2 else ""
            what = (address or "the first page") + (", another head" if heads else "")
            print(f"| {what} | {' | '.join(['', *shown][-2:])} | {ratio} | {options.rounds} |", flush=True)
    for checkout in checkouts:
        checkout.close()


if __name__ == "__main__":
    main()
