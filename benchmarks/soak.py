"""Simulate fifty visitors of one server, and measure times and memory.

    python -m benchmarks soak [--against DIR] [--minutes 20]

With --against, two checkouts take turns: this one, DIR, DIR, this one. A turn takes half of --minutes.
"""

import random
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import psutil

from benchmarks.server import ROOT, trouble_in, warm_server
from benchmarks.session import Run, Session
from benchmarks.table import Row, beside, held, size, spread
from selfattn.examples import PAIRS

TITLE = "Fifty visitors at once: median time (95th percentile)"
COLUMNS = ("this checkout", "other checkout")
CLASS = 50  # visitors
THOUGHT = 4.0  # mean seconds between two actions of a visitor
PLACES = ("river", "loan", "garden", "harbour", "cellar", "market", "winter", "office", "forest", "stage")
PAGES = ("inside-a-head", "all-heads", "from-scratch", "before-attention")
ACTIONS = ("head", "link", "figure", "text", "superseded")
LESSON, ALONE = (8, 3, 1, 0, 0), (8, 3, 1, 8, 4)  # relative frequencies of ACTIONS
GROWTH = 0.05  # limit on memory growth in the second half
STEP = 2.0  # seconds between two measurements of memory
OPENED = ("open the main view", "open a link")
TYPED = "type a sentence, until the first picture"


@dataclass
class Soak:
    """The seconds that each action took, the errors, and the memory used."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    trouble: list[str] = field(default_factory=list)
    # (seconds since the start, resident bytes)
    memory: list[tuple[float, float]] = field(default_factory=list)

    def mean_memory(self, start: float, stop: float) -> float:
        """Return the mean number of resident bytes between the times `start` and `stop`, given in seconds."""
        held = [bytes_held for seconds, bytes_held in self.memory if start <= seconds < stop]
        return sum(held) / len(held)


def main(small: bool = False, against: Path | None = None, minutes: float = 20) -> Iterator[Row]:
    visitors, thought, seconds = (2, 0.2, 6.0) if small else (CLASS, THOUGHT, 60 * minutes)
    folders = [folder for folder in (ROOT, against) if folder]
    found = [Soak() for _ in folders]
    # For each checkout and each call of `soak`: mean resident bytes from 40 to 50 % and from 90 to 100 % of the call's time.
    memory: list[list[tuple[float, float]]] = [[] for _ in folders]
    with ExitStack() as stack:
        logs = [Path(stack.enter_context(tempfile.TemporaryDirectory()), "log") for _ in folders]
        servers = [stack.enter_context(warm_server(log, folder)) for log, folder in zip(logs, folders)]
        turns = [0] if len(folders) == 1 else [0, 1, 1, 0]
        for n in turns:
            length = seconds / len(turns) * len(folders)
            turn = soak(*servers[n], visitors, length, thought)
            for action, times in turn.seconds.items():
                found[n].seconds[action] += times
            found[n].trouble += turn.trouble
            memory[n].append((turn.mean_memory(0.4 * length, 0.5 * length), turn.mean_memory(0.9 * length, length)))
        for each, log in zip(found, logs):
            each.trouble += trouble_in(log)
            print(*each.trouble, sep="\n", end="\n" * bool(each.trouble), file=sys.stderr)
    actions = sorted({*chain(*(each.seconds for each in found))} - {TYPED})
    for what, several in (("every action", actions), ("open the main view or a link", OPENED), (TYPED, [TYPED])):
        yield spread(what, [[*chain(*(each.seconds[action] for action in several))] for each in found], 1.5, most=3.0)
    for action in actions:
        yield spread(action, [each.seconds[action] for each in found])
    ends, rounds = [max(end for _, end in each) for each in memory], len(memory[0])
    yield beside("mean resident memory in the last tenth of the run", ends, [size(each) for each in ends], rounds)
    grown = [max(end / half - 1 for half, end in each) for each in memory]
    kept = f"at most {GROWTH:.0%}: {held(grown[0], GROWTH)}"
    what, shown = "growth of the resident memory in the second half of the run", [f"{each:+.1%}" for each in grown]
    yield beside(what, [None, None], shown, rounds, kept)
    errors = [float(len(each.trouble)) for each in found]
    kept = "none: NO" if errors[0] else "none: yes"
    yield beside("errors", [None, None], [f"{each:.0f}" for each in errors], rounds, kept)


def soak(address: str, pid: int, visitors: int, seconds: float, thought: float = THOUGHT) -> Soak:
    """Simulate visitors for `seconds`. pid: the server's process id."""
    found, stop = Soak(), threading.Event()
    server = psutil.Process(pid)
    every = [(address, random.Random(n), found, stop, thought, n % 2 == 0) for n in range(visitors)]
    threads = [threading.Thread(target=_visit, args=arguments, daemon=True) for arguments in every]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    while (passed := time.monotonic() - started) < seconds:
        found.memory.append((passed, server.memory_info().rss))
        time.sleep(min(STEP, seconds / 10))
    stop.set()
    for thread in threads:
        thread.join(120)
        if thread.is_alive():
            found.trouble.append("A visitor waited for more than two minutes.")
    return found


def _visit(
    address: str, chance: random.Random, found: Soak, stop: threading.Event, thought: float, lesson: bool
) -> None:
    stop.wait(chance.uniform(0, thought))
    while not stop.is_set():
        word = PAIRS[0].word if lesson else chance.choice(PAIRS[1:]).word
        try:
            with Session(address) as session:  # one visit
                _note(found, "open the main view", session.open("", f"example={word}"))
                for _ in range(chance.randint(3, 8)):
                    if stop.wait(chance.uniform(0.5, 1.5) * thought):
                        return
                    _act(session, chance, found, word, LESSON if lesson else ALONE)
        except Exception as error:  # any error of a visit is a result
            found.trouble.append(repr(error))
            stop.wait(1)


def _act(session: Session, chance: random.Random, found: Soak, word: str, often: tuple[int, ...]) -> None:
    (action,) = chance.choices(ACTIONS, often)
    if action == "head":
        if session.heads:
            _note(found, "choose a head", session.click_head(*_head(chance)))
    elif action == "text" and "a" in session.widgets:
        run = session.set(a=_sentence(chance, word))
        _note(found, "type a sentence", run)
        found.seconds[TYPED].append(run.first_chart or run.seconds)
    elif action == "superseded" and "a" in session.widgets:
        session.send(a=_sentence(chance, word))  # sent before the page is complete
        session.send(a=_sentence(chance, word))
        run = session.set(a=_sentence(chance, word))
        _note(found, "type three sentences in a row", run)
    elif action == "figure" and "download" in session.widgets:
        started = time.monotonic()
        session.downloads.clear()
        _note(found, "open the downloads", session.set(download=True))
        if not session.download("PNG").startswith(b"\x89PNG"):
            found.trouble.append("Expected a PNG file, got another download.")
        found.seconds["download the figure"].append(time.monotonic() - started)
        session.set(download=False)
    else:
        _note(found, "open another page", session.open(chance.choice(PAGES), f"example={word}"))
        link = "example={}&head=L{}+H{}".format(word, *_head(chance))
        _note(found, "open a link", session.open("", link))


def _note(found: Soak, action: str, run: Run) -> None:
    found.seconds[action].append(run.seconds)
    found.trouble += run.exceptions


def _head(chance: random.Random) -> tuple[int, int]:
    return chance.randrange(6), chance.randrange(12)


def _sentence(chance: random.Random, word: str) -> str:
    places = chance.choices(PLACES, k=chance.randint(2, 12))
    return f"The {word} of the {' and the '.join(places)}."
