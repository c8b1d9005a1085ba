"""The places for costly work, for which visitors wait, and the threads that PyTorch gets for a pass.

Costly work is all heads of a pair, a long sentence, many sentences, a training. Pages run beside it and wait for nobody.
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

LOOK = 0.25  # seconds between two looks whether a visitor who waits is still there
PATIENCE = 1.0  # seconds of waiting after which the page says so
WAITING = "Others are computing; your turn comes ..."
# A pass of so much work, tokens x layers x d_model, takes as long on one core as on two: 128 tokens of the bundled encoder, 32
# of one of base size. Every run of a page is a new thread, for which PyTorch starts a new team of threads: with two a sentence
# of 12 tokens takes a third longer than with one, one head's weights twice as long, the words and heads that are hidden in two
# short sentences 1.5 times as long. From 256 tokens on, copies counted, two take three quarters of the time, then two thirds.
SMALL = 300_000

_CORES = torch.get_num_threads()  # as many as there are, or OMP_NUM_THREADS
_places = threading.BoundedSemaphore(max(1, _CORES - 1))
_mine = threading.local()  # .place: whether this thread holds one
_running: set[int] = set()  # the threads that run a page, or a part of one


@contextmanager
def costly_slot() -> Iterator[Callable[[], None]]:
    """Hold a place for costly work; the page says it where others hold them all for long.

    Yields a function to call at each sign of progress: it ends the work of a visitor who has moved on or left, as it ends
    their waiting. A thread that holds a place gets no second one: it would wait for itself.
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
    """Take a place; the element that has said meanwhile that the page waits, or None."""
    shown, since = None, time.monotonic()
    while not _places.acquire(timeout=LOOK):
        stop_if_superseded()
        if shown is None and time.monotonic() - since > PATIENCE:
            shown = this_page().news.empty()
            shown.text(WAITING)
    return shown


@contextmanager
def page_run() -> Iterator[None]:
    """Count this thread among those that run pages; outside large passes it computes with one thread."""
    thread = threading.get_ident()
    _running.add(thread)
    try:
        torch.set_num_threads(1)  # this thread's number, and that of threads to come
        yield
    finally:
        _running.discard(thread)


def alone() -> bool:
    """Whether no other page runs: there is time for work that could be put off."""
    return len(_running) < 2


@contextmanager
def threads_for(work: int) -> Iterator[None]:
    """Inside it this thread computes a pass of so much work, tokens x layers x d_model: a large one with its share of the cores.

    With all cores each, the threads of pages side by side wait for one another: fifty visitors on two cores waited a third
    longer, and used more processor time for the same.
    """
    before = torch.get_num_threads()
    share = _CORES // max(1, len(_running))
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
