"""The two queues in which visitors wait their turn: to put a page together, and for costly work.

Costly work (all heads of a pair, many sentences) has a queue of its own, and a page that waits for it leaves its place to
others, so that a page, a choice of a head and a sentence always pass.
"""

import bisect
import itertools
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch

from selfattn.dashboard.session import RECORD
from selfattn.dashboard.streamlit_internals import this_session
from selfattn.settings import Settings

LOOK = 0.25  # seconds between two looks whether whoever waits is still wanted
PATIENCE = 2.0  # seconds between two times that a waiting page says so
AHEAD = 0.3  # seconds by which costly work may have had more than another before it gives way
# A pass of so much work, tokens x layers x d_model, takes as long on one core as on two: 128 tokens of the bundled encoder, 32
# of one of base size. Every run of a page is a new thread, for which PyTorch starts a new team of threads: with two a sentence
# of 12 tokens takes a third longer than with one, one head's weights twice as long, the words and heads that are hidden in two
# short sentences 1.5 times as long. From 256 tokens on, copies counted, two take three quarters of the time, then two thirds.
SMALL = 300_000


class Queue:
    """At most `places` threads at a time; the others wait, the one of the least order first, and can be called off."""

    def __init__(self, places: int):
        self._places = places
        self._changed = threading.Condition()
        self._waiting: list[tuple[float, int]] = []  # in the order of their turns
        self._numbers = itertools.count()
        self._mine = threading.local()  # .turn: whether this thread has one
        self.held = 0  # how many hold a place

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    @property
    def next_order(self) -> float:
        """The order of who is next; infinite where nobody waits."""
        with self._changed:
            return self._waiting[0][0] if self._waiting else math.inf

    @contextmanager
    def turn(self, still_wanted: Callable[[], None] = lambda: None, order: float | None = None) -> Iterator[None]:
        """Hold a place. While waiting, still_wanted() is called; what it raises ends the wait and comes out here.

        order: the least goes first. None: when the caller came, by time.monotonic().

        A thread that holds a place gets the next one at once: waiting for itself it would wait forever.
        """
        if self._has_turn():
            yield
            return
        self._take(still_wanted, order)
        try:
            yield
        finally:
            self._change(-1)

    @contextmanager
    def away(self) -> Iterator[None]:
        """Inside the `with` this thread's place is another's. It comes back at once, for it may hold what others wait for."""
        if not self._has_turn():
            yield
            return
        self._change(-1)
        try:
            yield
        finally:
            self._change(+1)

    def give_way(self, still_wanted: Callable[[], None], order: float) -> None:
        """This thread, which has a turn, waits for another one of this order."""
        self._change(-1)
        try:
            self._take(still_wanted, order)
        except BaseException:
            self._change(+1)  # the turn that is given back at its end
            raise

    def _has_turn(self) -> bool:
        return getattr(self._mine, "turn", False)

    def _take(self, still_wanted: Callable[[], None], order: float | None) -> None:
        place = (time.monotonic() if order is None else order, next(self._numbers))
        with self._changed:
            bisect.insort(self._waiting, place)
            try:
                while self.held >= self._places or self._waiting[0] != place:
                    self._changed.wait(LOOK)
                    still_wanted()
                self._change(+1)
            finally:
                self._waiting.remove(place)
                self._changed.notify_all()

    def _change(self, by: int) -> None:
        with self._changed:
            self.held += by
            self._mine.turn = by > 0
            self._changed.notify_all()


_CORES = torch.get_num_threads()  # as many as there are, or OMP_NUM_THREADS
_costly = Queue(max(1, Settings.read().max_pages - 1))
_pages = Queue(Settings.read().max_pages)


@contextmanager
def costly_slot() -> Iterator[Callable[[], None]]:
    """Wait for the place for costly work; what comes with it is called at each sign of progress.

    It ends the work of whoever has moved on or left, and lets those pass that have had less: so long work, asked for again and
    again, doesn't hold up short work (least attained service: Kleinrock 1976, "Queueing Systems" II, section 4.6). Whoever
    calls it must hold nothing that somebody in this queue waits for.
    """
    with page_left(), _costly.turn(stop_if_superseded, order=0.0):
        had, began = 0.0, time.monotonic()

        def give_way() -> None:
            nonlocal had, began
            stop_if_superseded()
            had += time.monotonic() - began
            if _costly.next_order + AHEAD < had:
                _costly.give_way(stop_if_superseded, had)
            began = time.monotonic()

        yield give_way


def alone() -> bool:
    """Whether this thread is the only one that works, and nobody waits: there is time for what could be put off."""
    return _pages.held + _costly.held < 2 and not (_pages.waiting or _costly.waiting)


def page_left() -> AbstractContextManager[None]:
    """The page waits for what takes long, its own or another's: meanwhile others are put together in its place."""
    return _pages.away()


@contextmanager
def page_turn(news: Any) -> Iterator[None]:
    """Wait until fewer pages than the limit are put together, and say so in `news`, a container, where it takes long.

    Who has moved on in the meantime (a changed input, a closed tab) stops waiting: Streamlit's own exception for that ends it.
    Python runs one thread at a time: with many pages at once an encoder's pass, made of many short steps, would have to wait
    for the interpreter before each of them.
    """
    place, said = None, time.monotonic()

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
    share = _CORES if alone() else _CORES // Settings.read().max_pages
    torch.set_num_threads(max(1, share) if work > SMALL else 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def stop_if_superseded() -> None:
    """End this run where a newer one has replaced it, or its visitor has left."""
    # Any read of the session's state is a point where Streamlit ends a script run that a newer one has replaced.
    if this_session() is not None:
        RECORD.get()
