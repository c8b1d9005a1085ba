"""Limit how many pages run at once, how many costly computations run at once, and PyTorch's threads in each forward pass.

Costly work computes the effect of every head in two sentences, reads a long sentence or many sentences, or trains a model. It has
its own slots: a page waits for other pages, but not for costly work.
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

LOOK = 0.25  # seconds between checks that a waiting visitor is still there
PATIENCE = 1.0  # seconds of waiting before the page shows WAITING
# Seconds in which a new visitor's browser draws the first picture before the server sends the rest of the page. On two cores, the
# first picture then appears after 0.6 s instead of 1.0 s. The last picture is delayed by less than 0.1 s.
HEAD_START = 0.6
WAITING = "Waiting until other visitors' computations end ..."
# Work (tokens x layers x d_model) of the largest pass that is as fast with one thread as with two: 128 tokens in the bundled
# encoder, 32 tokens in an encoder of base size. Every run of a page is a new thread, for which PyTorch starts new threads. So
# with two threads instead of one, a sentence of 12 tokens takes a third longer, one head's weights take twice as long, and
# hiding words and heads in two short sentences takes 1.5 times as long. From 256 tokens on (over all texts of a batch), two
# threads take 3/4 to 2/3 of the time of one thread.
SMALL = 300_000

_CORES = torch.get_num_threads()  # all cores, or OMP_NUM_THREADS
_places = threading.BoundedSemaphore(max(1, _CORES - 1))
_mine = (
    threading.local()
)  # .place: True while this thread holds a slot for costly work; .page: True while it runs a page
_running: set[int] = set()  # ids of the threads that run a page or a part of a page, or wait to run it


class _Pages:
    """The slots for pages that run at the same time. Pages get slots in the order of arrival.

    Python runs one thread at a time. Without these slots, with fifty pages at once, the answer to a typed sentence took 1.8
    times as long. The slots leave one core for the picture process and costly work.
    """

    def __init__(self, most: int):
        self._free, self._line, self._changed = most, deque[object](), threading.Condition()

    @contextmanager
    def in_line(self) -> Iterator[Callable[[float], bool]]:
        """Join the queue. Yield a function that waits for a slot, at most `timeout` seconds, and returns True if it got one."""
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
        """Add free slots. A negative number takes slots at once, even if none is free."""
        with self._changed:
            self._free += places
            self._changed.notify_all()


_pages = _Pages(max(1, _CORES - 1))


@contextmanager
def costly_slot() -> Iterator[Callable[[], None]]:
    """Wait for a slot for costly work, and hold it inside the `with`. After PATIENCE, the page shows WAITING.

    Yields a function to call at each step of the work. That function and the wait end the run if the visitor has moved on or
    left. A thread that already holds a slot doesn't take a second slot, because it might wait for the slot that it holds.
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
    """Call `take` until it returns True. After PATIENCE, show WAITING in the container news(); return the element, or None."""
    shown, since = None, time.monotonic()
    while not take(LOOK):
        stop_if_superseded()
        if shown is None and time.monotonic() - since > PATIENCE and (place := news()) is not None:
            shown = place.empty()
            shown.text(WAITING)
    return shown


@contextmanager
def page_run(news: Any = None) -> Iterator[None]:
    """Wait for a slot to run a page or a part of a page, and hold it. Outside large passes, PyTorch uses one thread.

    news: the container that shows WAITING after PATIENCE (None: no message).
    """
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
    """Free this page's slot inside the `with`. Afterwards take a slot without waiting, because a wait could deadlock."""
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
    """Wait for HEAD_START seconds, while other pages run. End the run if the visitor moves on or leaves."""
    until = time.monotonic() + HEAD_START
    with page_lent():
        while time.monotonic() < until:
            time.sleep(LOOK / 5)
            stop_if_superseded()


@contextmanager
def threads_for(work: int) -> Iterator[None]:
    """Inside the `with`, let PyTorch use one thread, or for a large pass this page's share of the cores.

    work: tokens x layers x d_model of the pass. If every page used all cores, threads would wait for one another: on two cores,
    fifty visitors waited a third longer, and the server used more processor time.
    """
    before = torch.get_num_threads()
    share = _CORES // max(1, len(_running))
    torch.set_num_threads(max(1, share) if work > SMALL else 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def stop_if_superseded() -> None:
    """End this run of the page if a newer run has replaced it, or if its visitor has left."""
    # Reading the session's state makes Streamlit end a run that a newer run has replaced.
    if this_session() is not None:
        RECORD.get()
