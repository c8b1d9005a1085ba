"""Limit how many pages, costly computations and PyTorch threads run at once.

Costly work, such as computing the effect of every head, takes seconds. Other pages run during costly work.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from selfattn.dashboard.figures import this_page
from selfattn.dashboard.session import RECORD
from selfattn.dashboard.streamlit_internals import this_session

LOOK = 0.25  # seconds between checks that a visitor is still there
PATIENCE = 1.0  # seconds of waiting before the page shows WAITING
# After sending its first picture, a new visitor's page pauses for this many seconds, so that the browser can draw.
# On two cores, the pause shortens a visitor's wait for this picture from 1.0 s to 0.6 s.
HEAD_START = 0.6
WAITING = "Waiting for other visitors' computations ..."
# Work (tokens x layers x d_model) of the largest pass that runs on one thread:
# 128 tokens in the bundled encoder, 32 tokens in an encoder of base size.
# Two threads take a third longer for 12 tokens, because each page run starts new threads.
# From 256 tokens on, two threads take 3/4 to 2/3 of the time of one thread.
SMALL = 300_000

_CORES = torch.get_num_threads()  # all cores, or OMP_NUM_THREADS
_places = threading.BoundedSemaphore(max(1, _CORES - 1))
_mine = threading.local()  # .place: has a slot for costly work; .page: runs a page
_running: set[int] = set()  # ids of threads that run or wait to run a page


class _Pages:
    """A queue that limits how many pages run at once.

    Without the limit, fifty pages at once answered 1.8 times as slowly.
    """

    def __init__(self, most: int):
        self._free, self._line, self._changed = most, deque[object](), threading.Condition()

    @contextmanager
    def in_line(self) -> Iterator[Callable[[float], bool]]:
        """Join the queue. Yield a function that waits for a slot and returns True if it got one."""
        ticket = object()
        with self._changed:
            self._line.append(ticket)
        try:
            yield lambda timeout: self._take(ticket, timeout)
        finally:
            with self._changed:
                self._line.remove(ticket)
                self._changed.notify_all()

    def _take(self, ticket: object, timeout: float) -> bool:
        with self._changed:
            first = self._changed.wait_for(lambda: self._free > 0 and self._line[0] is ticket, timeout)
            self._free -= first
            return first

    def add(self, places: int) -> None:
        """Add slots; a negative number takes slots, even if none is free."""
        with self._changed:
            self._free += places
            self._changed.notify_all()


_pages = _Pages(max(1, _CORES - 1))


@contextmanager
def costly_slot() -> Iterator[Callable[[], None]]:
    """Hold a slot for costly work inside the `with`.

    Yields a function to call at each step. The function ends the run if the visitor has moved on.
    """
    if getattr(_mine, "place", False):
        yield stop_if_superseded
        return
    with page_lent():
        shown = _wait(lambda timeout: _places.acquire(timeout=timeout), lambda: this_page().news)
        _mine.place = True
        try:
            if shown is not None:
                shown.empty()
            yield stop_if_superseded
        finally:
            _mine.place = False
            _places.release()


def _wait(take: Callable[[float], bool], news: Callable[[], Any]) -> Any:
    """Wait until `take` returns True. Return the element with the message WAITING, or None if no message was shown."""
    shown, since = None, time.monotonic()
    while not take(LOOK):
        stop_if_superseded()
        if shown is None and time.monotonic() - since > PATIENCE and (place := news()) is not None:
            shown = place.empty()
            shown.text(WAITING)
    return shown


@contextmanager
def page_run(news: Any = None) -> Iterator[None]:
    """Wait until this page may run; inside the `with`, it counts as running. news: container for the message about waiting."""
    if getattr(_mine, "page", False):
        yield
        return
    thread = threading.get_ident()
    _running.add(thread)
    try:
        with _pages.in_line() as take:
            shown = _wait(take, lambda: news)
        _mine.page = True
        try:
            if shown is not None:
                shown.empty()
            torch.set_num_threads(1)  # for this thread and for new threads
            yield
        finally:
            _mine.page = False
            _pages.add(1)
    finally:
        _running.discard(thread)


@contextmanager
def page_lent() -> Iterator[None]:
    """Count this page as not running during the `with` block, so that another page can run.

    After the block, this page goes on without waiting for other pages, because waiting could deadlock.
    """
    if not getattr(_mine, "page", False):
        yield
        return
    _mine.page = False
    _pages.add(1)
    try:
        yield
    finally:
        _pages.add(-1)
        _mine.page = True


def let_browser_draw() -> None:
    """Wait HEAD_START seconds, and let another page run meanwhile."""
    until = time.monotonic() + HEAD_START
    with page_lent():
        while time.monotonic() < until:
            time.sleep(LOOK / 5)
            stop_if_superseded()


@contextmanager
def threads_for(work: int) -> Iterator[None]:
    """Run a small forward pass on one PyTorch thread, and a large one on this page's equal share of the cores.

    work: tokens x layers x d_model of the pass.
    """
    before = torch.get_num_threads()
    share = _CORES // max(1, len(_running))
    torch.set_num_threads(max(1, share) if work > SMALL else 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def stop_if_superseded() -> None:
    """End this run if a newer run has replaced it or the visitor has left."""
    # Streamlit ends a replaced run when the run reads the session state.
    if this_session() is not None:
        RECORD.get()
