"""Draw pictures for download in another process, because vl-convert blocks all Python threads."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache, partialmethod
from multiprocessing import get_context, parent_process
from typing import Any

LONGEST = 60  # seconds per picture, at most
NICENESS = 10

_one_at_a_time = threading.Lock()


class Painter:
    """A stand-in for vl-convert that draws in the picture process.

    still_wanted: raises an error if the visitor has left.
    """

    def __init__(self, still_wanted: Callable[[], None] = lambda: None):
        self._still_wanted = still_wanted

    def _draw(self, how: str, what: Any, **options: Any) -> Any:
        with _one_at_a_time:
            self._still_wanted()
            return _ask(how, what, options)

    vegalite_to_svg = partialmethod(_draw, "vegalite_to_svg")
    svg_to_png = partialmethod(_draw, "svg_to_png")


def _ask(how: str, what: Any, options: dict[str, Any]) -> Any:
    begun = time.monotonic()
    try:
        return _submit(draw, how, what, options, LONGEST).result()
    except BrokenProcessPool:
        if time.monotonic() - begun < LONGEST:  # the process died before its time limit: try again
            with contextlib.suppress(BrokenProcessPool):
                return _submit(draw, how, what, options, LONGEST).result()
        raise RuntimeError(
            f"Drawing this picture took more than {LONGEST} s, or too much memory. Choose a smaller width or the SVG file."
        ) from None


@contextmanager
def drawn_elsewhere(still_wanted: Callable[[], None]) -> Iterator[None]:
    """Inside the `with`, draw pictures in the picture process."""
    from selfattn.export.files import painter  # the picture process doesn't import selfattn.export

    before = painter.set(Painter(still_wanted))
    try:
        yield
    finally:
        painter.reset(before)


def draw(how: str, what: Any, options: dict[str, Any], seconds: float) -> Any:
    """Return vl-convert's result. After `seconds`, an alarm ends the process."""
    import vl_convert

    with contextlib.suppress(AttributeError):  # Windows has no alarm
        signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return getattr(vl_convert, how)(what, **options)
    finally:
        with contextlib.suppress(AttributeError):
            signal.setitimer(signal.ITIMER_REAL, 0)


def _submit(function: Callable, *arguments: Any) -> Future:
    try:
        return _pool().submit(function, *arguments)
    except BrokenProcessPool:  # the process ended after the last picture
        _pool.cache_clear()
        return _pool().submit(function, *arguments)


@cache
def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, get_context("spawn"), initializer=_start)


def _start() -> None:
    os.nice(NICENESS)
    threading.Thread(target=_end_with_the_server, daemon=True).start()


def _end_with_the_server() -> None:
    if server := parent_process():
        server.join()
        os._exit(1)
