"""Limits how many visitors do costly work at once, and sets PyTorch's threads for each pass.

Costly work is all heads of a pair, a long sentence, many sentences, or a training. Pages run beside it without waiting.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from selfattn.dashboard.figures import this_page
from selfattn.dashboard.session import RECORD
from selfattn.dashboard.streamlit_internals import this_session

LOOK = 0.25  # seconds between two checks that a waiting visitor is still there
PATIENCE = 1.0  # seconds of waiting before the page shows WAITING
WAITING = "Others are computing; your turn comes ..."
# Work (tokens x layers x d_model) of the largest pass that takes as long on one core as on two: 128 tokens of the bundled
# encoder, 32 of one of base size. Every run of a page is a new thread, and PyTorch starts a new team of threads for it. With
# two threads instead of one, a sentence of 12 tokens takes a third longer, one head's weights twice as long, hiding words and
# heads in two short sentences 1.5 times as long. From 256 tokens on (copies counted), two threads take 3/4 to 2/3 of the time.
SMALL = 300_000

_CORES = torch.get_num_threads()  # all cores, or OMP_NUM_THREADS
_places = threading.BoundedSemaphore(max(1, _CORES - 1))
_mine = threading.local()  # .place: True while this thread holds a place
_running: set[int] = set()  # ids of the threads that run a page or a part of one


@contextmanager
def costly_slot() -> Iterator[Callable[[], None]]:
    """Hold a place for costly work. While others hold all places, wait; after PATIENCE the page says so.

    Yields a function to call at each step of progress: it ends the work of a visitor who has moved on or left. Waiting ends
    in the same way. A thread that holds a place gets no second one: it would wait for itself.
    """
    if getattr(_mine, "place", False):
        yield stop_if_superseded
        return
    shown = _wait()
    _mine.place = True
    try:
        if shown is not None:
            shown.empty()
        yield stop_if_superseded
    finally:
        _mine.place = False
        _places.release()


def _wait() -> Any:
    """Wait for a place, and take it. Return the element that shows WAITING, or None."""
    shown, since = None, time.monotonic()
    while not _places.acquire(timeout=LOOK):
        stop_if_superseded()
        if shown is None and time.monotonic() - since > PATIENCE:
            shown = this_page().news.empty()
            shown.text(WAITING)
    return shown


@contextmanager
def page_run() -> Iterator[None]:
    """Count this thread as one that runs a page. Outside large passes, PyTorch uses one thread for it."""
    thread = threading.get_ident()
    _running.add(thread)
    try:
        torch.set_num_threads(1)  # for this thread and for new threads
        yield
    finally:
        _running.discard(thread)


def alone() -> bool:
    """True if no other page runs, so that there is time for work that can be put off."""
    return len(_running) < 2


@contextmanager
def threads_for(work: int) -> Iterator[None]:
    """Give a pass of this much work (tokens x layers x d_model) one thread, or a large pass its share of the cores.

    If every page used all cores, their threads would wait for one another: fifty visitors on two cores waited a third longer,
    and used more processor time.
    """
    before = torch.get_num_threads()
    share = _CORES // max(1, len(_running))
    torch.set_num_threads(max(1, share) if work > SMALL else 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def stop_if_superseded() -> None:
    """End this run if a newer one has replaced it, or if its visitor has left."""
    # At any read of the session's state, Streamlit ends a script run that a newer one has replaced.
    if this_session() is not None:
        RECORD.get()
