"""The queues in which visitors wait their turn: to put a page together, to run a sentence, and for costly work.

Costly work (all heads of a pair, many sentences) has a queue of its own, and a page that waits for it leaves its place to
others, so that a page, a choice of a head and a sentence always pass.
A page takes several turns in one run. They count from when the run began, so that it doesn't queue up anew for each: with
many visitors the pages then end one after the other, and not all of them late.
"""

import bisect
import itertools
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch

from selfattn.dashboard.session import BEGAN
from selfattn.dashboard.streamlit_internals import this_session
from selfattn.settings import Settings

LOOK = 0.25  # seconds between two looks whether whoever waits is still wanted
PATIENCE = 2.0  # seconds between two times that a waiting page says so
LEASE = 3.0  # seconds after which a page that still computes makes room for the next
AHEAD = 1.0  # seconds of costly work by which one may be ahead of another before giving way
HALF_LIFE = 60.0  # seconds in which half of what somebody has used is forgotten
# A pass of so much work, tokens x layers x d_model, takes as long on one core as on two: 128 tokens of the bundled encoder, 32
# of one of base size. Every run of a page is a new thread, for which PyTorch starts a new team of threads: with two a sentence
# of 12 tokens takes a third longer than with one, one head's weights twice as long, the words and heads that are hidden in two
# short sentences 1.5 times as long. From 256 tokens on, copies counted, two take three quarters of the time, then two thirds.
SMALL = 300_000


class Queue:
    """At most `places` threads at a time; the others wait in the order in which they came, and can be called off.

    lease: seconds after which a thread that still works makes room for the next, so that a few long ones don't keep all
    others waiting (None: it never does).
    """

    def __init__(self, places: int, lease: float | None = None):
        self._places = places
        self._lease = lease
        self._holding: set[threading.Event] = set()
        self._waiting: list[tuple[float, int, threading.Event]] = []  # in the order of their turns
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._mine = threading.local()  # .ticket: this thread's, while it has a turn

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    @property
    def held(self) -> int:
        """How many hold a place."""
        return len(self._holding)

    @contextmanager
    def turn(self, still_wanted: Callable[[], None] = lambda: None, since: float | None = None) -> Iterator[None]:
        """Hold a place. While waiting, still_wanted() is called; what it raises ends the wait and comes out here.

        since: when the caller came, by time.monotonic() (None: now); who came first is served first.

        A thread that holds a place gets the next one at once: waiting for itself it would wait forever.
        """
        if self._has_turn():
            yield
            return
        self._take(still_wanted, since)
        try:
            yield
        finally:
            self._give_back()

    @contextmanager
    def away(self, still_wanted: Callable[[], None], since: float | None) -> Iterator[None]:
        """Inside the `with` this thread's place is another's; after it the thread waits for one again."""
        if not self._has_turn():
            yield
            return
        self._give_back()
        yield  # what is raised in here ends the turn
        self._take(still_wanted, since)

    def _has_turn(self) -> bool:
        return getattr(self._mine, "ticket", None) is not None

    def _take(self, still_wanted: Callable[[], None], order: float | None) -> None:
        ticket = threading.Event()
        with self._lock:
            came = time.monotonic() if order is None else order
            bisect.insort(self._waiting, (came, next(self._numbers), ticket))
            self._admit()
        try:
            while not ticket.wait(LOOK):
                still_wanted()
        except BaseException:
            self._go(ticket)
            raise
        self._mine.ticket = ticket
        if self._lease is not None:
            self._mine.timer = threading.Timer(self._lease, self._go, (ticket,))
            self._mine.timer.daemon = True
            self._mine.timer.start()

    def _give_back(self) -> None:
        if not self._has_turn():
            return
        if self._lease is not None:
            self._mine.timer.cancel()
        ticket, self._mine.ticket = self._mine.ticket, None
        self._go(ticket)

    def _go(self, ticket: threading.Event) -> None:
        with self._lock:
            if ticket in self._holding:
                self._holding.remove(ticket)
                self._admit()
            else:  # called off before its turn came, or its lease had ended
                self._waiting = [waiting for waiting in self._waiting if waiting[-1] is not ticket]

    def _admit(self) -> None:
        while len(self._holding) < self._places and self._waiting:
            ticket = self._waiting.pop(0)[-1]
            self._holding.add(ticket)
            ticket.set()


class FairQueue(Queue):
    """Whoever has used it least goes first, and whoever works gives way to them at each sign of progress.

    So one who asks for the costliest thing again and again waits himself, and long work doesn't hold up short work
    (least attained service: Kleinrock 1976, "Queueing Systems" II, section 4.6).
    """

    def __init__(self, places: int):
        super().__init__(places)
        self._used: dict[Hashable, tuple[float, float]] = {}  # who: seconds, and when they were counted

    @contextmanager
    def share(self, who: Hashable, still_wanted: Callable[[], None] = lambda: None) -> Iterator[Callable[[], None]]:
        """Hold a place, in the name of `who`. What comes with it is called at each sign of progress, and others may go first."""
        if self._has_turn():
            yield still_wanted
            return
        self._take(still_wanted, self.used(who))
        began = time.monotonic()

        def give_way() -> None:
            nonlocal began
            still_wanted()
            self.count(who, time.monotonic() - began)
            used = self.used(who)
            with self._lock:
                others_first = bool(self._waiting) and self._waiting[0][0] + AHEAD < used
            if others_first:
                self._give_back()
                self._take(still_wanted, used)
            began = time.monotonic()

        try:
            yield give_way
        finally:
            if self._has_turn():
                self.count(who, time.monotonic() - began)
            self._give_back()

    def used(self, who: Hashable) -> float:
        """Seconds that `who` has worked lately."""
        seconds, then = self._used.get(who, (0.0, 0.0))
        return seconds * 0.5 ** ((time.monotonic() - then) / HALF_LIFE)

    def count(self, who: Hashable, seconds: float) -> None:
        """Add to what `who` has used; whoever has used nearly nothing is forgotten."""
        with self._lock:
            self._used[who] = (self.used(who) + seconds, time.monotonic())
            self._used = {each: self._used[each] for each in self._used if self.used(each) > AHEAD / 100}


_CORES = torch.get_num_threads()  # as many as there are, or OMP_NUM_THREADS
_runs = Queue(Settings.read().max_runs)
_costly = FairQueue(max(1, Settings.read().max_runs - 1))
_pages = Queue(Settings.read().max_pages, LEASE)


def run_slot() -> AbstractContextManager[None]:
    """Wait for one of the places to run an encoder, so that many visitors take turns instead of thrashing.

    Who has moved on in the meantime (a changed input, a closed tab) stops waiting: Streamlit's own exception for that ends
    the wait, and the place goes to the next.
    """
    return _runs.turn(stop_if_superseded, _began())


@contextmanager
def costly_slot() -> Iterator[Callable[[], None]]:
    """Wait for the place for costly work; what comes with it is called at each sign of progress.

    It ends the work of whoever has moved on or left, and lets those pass who have used less: so whoever calls it must hold
    nothing that somebody in this queue waits for.
    """
    session = this_session()
    who = threading.get_ident() if session is None else session.session_id
    with page_left(), _costly.share(who, stop_if_superseded) as give_way:
        yield give_way


def alone() -> bool:
    """Whether this thread is the only one that works, and nobody waits: there is time for what could be put off."""
    return _pages.held + _costly.held < 2 and not (_pages.waiting or _costly.waiting)


def page_left() -> AbstractContextManager[None]:
    """The page waits for costly work, its own or another's: meanwhile others are put together in its place."""
    return _pages.away(stop_if_superseded, _began())


def _began() -> float | None:
    return BEGAN.get() if this_session() is not None else None


@contextmanager
def page_turn(news: Any) -> Iterator[None]:
    """Wait until fewer pages than the limit are put together, and say so in `news`, a container, where it takes long.

    Python runs one thread at a time: with many pages at once an encoder's pass, made of many short steps, would have to wait
    for the interpreter before each of them.
    """
    place, said = None, time.monotonic()
    BEGAN.set(said)

    def look() -> None:
        nonlocal place, said
        stop_if_superseded()
        if time.monotonic() - said > PATIENCE:
            place, said = place or news.empty(), time.monotonic()
            place.text(f"Many visitors at once: {_pages.waiting:,} wait for their turn ...")

    with _pages.turn(still_wanted=look):
        if place is not None:
            place.empty()
        torch.set_num_threads(1)  # this thread's number, and that of threads to come
        yield


@contextmanager
def threads_for(work: int) -> Iterator[None]:
    """Inside it this thread computes a pass of so much work, tokens x layers x d_model: a large one with all cores.

    Among others a large one has its share of them. With all cores each, the threads of pages side by side wait for one
    another: fifty visitors on two cores waited a third longer, and used more processor time for the same.
    """
    before = torch.get_num_threads()
    share = _CORES if alone() else _CORES // Settings.read().max_runs
    torch.set_num_threads(max(1, share) if work > SMALL else 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def stop_if_superseded() -> None:
    """End this run where a newer one has replaced it, or its visitor has left."""
    # Any read of the session's state is a point where Streamlit ends a script run that a newer one has replaced.
    if this_session() is not None:
        BEGAN.get()
