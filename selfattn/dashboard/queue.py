"""A queue for a few places: first come, first served, and whoever waits can be called off.

A page takes several turns in one run. They count from when the run began, so that it doesn't queue up anew for each: with
many visitors the pages then end one after the other, and not all of them late.
"""

import bisect
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LOOK = 0.25  # seconds between two looks whether whoever waits is still wanted


class Turns:
    """At most `places` threads at a time; the others wait in the order in which they came.

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
