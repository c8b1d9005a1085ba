"""Many visitors at once, each in a real session of its own, doing mixed work with pauses for thought.

Half of them follow a lesson: all on the first example, they click heads, open pages and links, and download. The others
have an example of their own each time they come, and type sentences as well. A greedy one types, without a pause, a text as
long as the encoder takes, each time another.
"""

import random
import statistics
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field

import psutil

from selfattn.examples import PAIRS
from tests.soak.session import Run, Session

PLACES = ("river", "loan", "garden", "harbour", "cellar", "market", "winter", "office", "forest", "stage")
PAGES = ("inside-a-head", "all-heads", "from-scratch", "before-attention")
ACTIONS = ("head", "link", "figure", "text", "superseded")
LESSON, OWN = (8, 3, 1, 0, 0), (8, 3, 1, 8, 4)  # how often a visitor does which
STEP = 2.0  # seconds between two looks at the memory


@dataclass
class Soak:
    """What happened: seconds of each action, what went wrong, and the server's memory over time."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    trouble: list[str] = field(default_factory=list)
    memory: list[tuple[float, float]] = field(default_factory=list)  # seconds since the start, MB resident

    def table(self) -> str:
        """Median and 95th percentile of each action, in Markdown."""
        rows = [
            f"| {action} | {len(times):,} | {statistics.median(times):.2f} s | {_percentile(times):.2f} s |"
            for action, times in sorted(self.seconds.items())
        ]
        return "\n".join(["| Action | times | median | 95 % |", "|---|---|---|---|", *rows])

    def growth(self, warm_up: float) -> float:
        """MB an hour by which the memory rises after the warm-up: the slope of a line through what was seen."""
        points = [(seconds, mb) for seconds, mb in self.memory if seconds >= warm_up]
        seconds, mb = zip(*points)
        return statistics.linear_regression(seconds, mb).slope * 3600


def soak(address: str, pid: int, visitors: int, seconds: float, thought: float = 2.0, greedy: int = 0) -> Soak:
    """Let `visitors` sessions work at the server for some time, and `greedy` ones beside them; pid is the server's process."""
    found, stop = Soak(), threading.Event()
    server = psutil.Process(pid)
    asked = [(_visit, address, random.Random(n), found, stop, thought, n % 2 == 0) for n in range(visitors)]
    asked += [(_ask_for_most, address, found, stop)] * greedy
    threads = [threading.Thread(target=visit, args=arguments, daemon=True) for visit, *arguments in asked]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    while (passed := time.monotonic() - started) < seconds:
        found.memory.append((passed, server.memory_info().rss / 1e6))
        time.sleep(min(STEP, seconds / 10))
    stop.set()
    for thread in threads:
        thread.join(120)
        if thread.is_alive():
            found.trouble.append("a visitor waited for more than two minutes")
    return found


def _visit(
    address: str, chance: random.Random, found: Soak, stop: threading.Event, thought: float, lesson: bool
) -> None:
    stop.wait(chance.uniform(0, thought))
    while not stop.is_set():
        word = PAIRS[0].word if lesson else chance.choice(PAIRS[1:]).word
        try:
            with Session(address) as session:  # a visitor comes, looks around, and goes
                _note(found, "open the main view", session.open("", f"example={word}"))
                for _ in range(chance.randint(3, 8)):
                    if stop.wait(chance.uniform(0.5, 1.5) * thought):
                        return
                    _act(session, chance, found, word, LESSON if lesson else OWN)
        except Exception as error:  # whatever it is, the soak has to report it
            found.trouble.append(repr(error))
            stop.wait(1)


def _ask_for_most(address: str, found: Soak, stop: threading.Event) -> None:
    chance = random.Random()
    try:
        with Session(address) as session:
            _note(found, "greedy: open the main view", session.open())
            while not stop.is_set():
                text = f"The bank {' '.join(chance.choices(PLACES, k=498))}."
                _note(found, "greedy: type 500 words", session.set(a=text))
    except Exception as error:  # as above
        found.trouble.append(repr(error))


def _act(session: Session, chance: random.Random, found: Soak, word: str, often: tuple[int, ...]) -> None:
    (action,) = chance.choices(ACTIONS, often)
    if action == "head":
        if session.heads:
            _note(found, "choose a head", session.click_head(*_head(chance)))
    elif action == "text" and "a" in session.widgets:
        run = session.set(a=_sentence(chance, word))
        _note(found, "type a sentence", run)
        found.seconds["type a sentence, first picture"].append(run.first_chart or run.seconds)
    elif action == "superseded" and "a" in session.widgets:
        session.send(a=_sentence(chance, word))  # and before the page is there, another
        session.send(a=_sentence(chance, word))
        run = session.set(a=_sentence(chance, word))
        _note(found, "type three sentences in a row", run)
    elif action == "figure" and "download" in session.widgets:
        started = time.monotonic()
        _note(found, "open the downloads", session.set(download=True))
        if not session.download("PNG").startswith(b"\x89PNG"):
            found.trouble.append("a PNG that is none")
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


def _percentile(times: list[float]) -> float:
    return sorted(times)[min(len(times) - 1, int(0.95 * len(times)))]
