"""The queue in which visitors wait their turn: for one of the pages that are put together, for one of the encoder's runs.

A page takes several turns in one run. They count from when the run began, so that it doesn't queue up anew for each: with
many visitors the pages then end one after the other, and not all of them late.
"""

import bisect
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

from selfattn.dashboard.streamlit_internals import this_session
from selfattn.settings import Settings

LOOK = 0.25  # seconds between two looks whether whoever waits is still wanted
PATIENCE = 1.0  # seconds between two times that a waiting page says so
LEASE = 3.0  # seconds after which a page that still computes makes room for the next


class Queue:
    """At most `places` threads at a time; the others wait in the order in which they came, and can be called off.

    lease: seconds after which a thread that still works makes room for the next, so that a few long ones don't keep all
    others waiting (None: it never does).
    """

    def __init__(self, places: int, lease: float | None = None):
        self._free = places
        self._lease = lease
        self._holding: set[threading.Event] = set()
        self._waiting: list[tuple[float, int, threading.Event]] = []  # in the order of their turns
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._held = threading.local()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    @contextmanager
    def turn(self, still_wanted: Callable[[], None] = lambda: None, since: float | None = None) -> Iterator[None]:
        """Hold a place. While waiting, still_wanted() is called; what it raises ends the wait and comes out here.

        since: when the caller came, by time.monotonic() (None: now); who came first is served first.

        A thread that holds a place gets the next one at once: waiting for itself it would wait forever.
        """
        if getattr(self._held, "yes", False):
            yield
            return
        ticket = self._come(time.monotonic() if since is None else since)
        try:
            while not ticket.wait(LOOK):
                still_wanted()
            self._held.yes = True
            with self._leased(ticket):
                yield
        finally:
            self._held.yes = False
            self._go(ticket)

    def _come(self, since: float) -> threading.Event:
        ticket = threading.Event()
        with self._lock:
            bisect.insort(self._waiting, (since, next(self._numbers), ticket))
            self._admit()
        return ticket

    def _go(self, ticket: threading.Event) -> None:
        with self._lock:
            if ticket in self._holding:
                self._holding.remove(ticket)
                self._free += 1
                self._admit()
            else:  # called off before its turn came, or its lease had ended
                self._waiting = [waiting for waiting in self._waiting if waiting[-1] is not ticket]

    def _admit(self) -> None:
        while self._free and self._waiting:
            ticket = self._waiting.pop(0)[-1]
            self._free -= 1
            self._holding.add(ticket)
            ticket.set()

    @contextmanager
    def _leased(self, ticket: threading.Event) -> Iterator[None]:
        if self._lease is None:
            yield
            return
        timer = threading.Timer(self._lease, self._go, (ticket,))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


_runs = Queue(Settings.read().max_runs)
_pages = Queue(Settings.read().max_pages, LEASE)


@contextmanager
def run_slot() -> Iterator[None]:
    """Wait for one of the places to run an encoder, so that many visitors take turns instead of thrashing.

    Who has moved on in the meantime (a changed input, a closed tab) stops waiting: Streamlit's own exception for that ends
    the wait, and the place goes to the next.
    """
    began = st.session_state.get("began") if this_session() is not None else None
    with _runs.turn(still_wanted=_stop_if_superseded, since=began):
        yield


@contextmanager
def page_turn() -> Iterator[None]:
    """Wait until fewer pages than the limit are put together, and say so where it takes long.

    Python runs one thread at a time: with many pages at once an encoder's pass, made of many short steps, would have to wait
    for the interpreter before each of them.
    """
    place, said = None, time.monotonic()
    st.session_state.began = said

    def look() -> None:
        nonlocal place, said
        _stop_if_superseded()
        if time.monotonic() - said > PATIENCE:
            place, said = place or st.empty(), time.monotonic()
            place.text(f"Many visitors at once: {_pages.waiting:,} wait for their turn ...")

    with _pages.turn(still_wanted=look):
        if place is not None:
            place.empty()
        yield


def _stop_if_superseded() -> None:
    # Any look at the session's state is a point where Streamlit ends a script run that a newer one has replaced.
    if this_session() is not None:
        st.session_state.get("waiting")
