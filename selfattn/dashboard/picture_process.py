"""Draws the pictures of downloads in another process: vl-convert holds the interpreter's lock while it draws.

One process for all visitors, at a lower priority than the server. It draws one picture after the other.
"""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache, partialmethod
from multiprocessing import get_context, parent_process
from typing import Any

LONGEST = 60  # seconds that one picture may take
NICENESS = 10

_one_at_a_time = threading.Lock()


class Painter:
    """Draws as vl-convert does, for one visitor. still_wanted() is called before each picture; it may raise."""

    def __init__(self, still_wanted: Callable[[], None] = lambda: None):
        self._still_wanted = still_wanted

    def _draw(self, how: str, what: Any, **options: Any) -> Any:
        with _one_at_a_time:
            self._still_wanted()
            try:
                return _submit(draw, how, what, options, LONGEST).result()
            except BrokenProcessPool:
                raise RuntimeError(
                    f"This picture took more than {LONGEST} s, or too much memory. Choose a smaller one, or the SVG."
                ) from None

    vegalite_to_svg = partialmethod(_draw, "vegalite_to_svg")  # as in vl-convert
    svg_to_png = partialmethod(_draw, "svg_to_png")
    javascript_bundle = partialmethod(_draw, "javascript_bundle")


@contextmanager
def drawn_elsewhere(still_wanted: Callable[[], None]) -> Iterator[None]:
    """Inside the `with` the other process draws the library's pictures (selfattn.export)."""
    from selfattn.export.files import painter  # not at the top: the other process imports this file

    before = painter.set(Painter(still_wanted))
    try:
        yield
    finally:
        painter.reset(before)


def draw(how: str, what: Any, options: dict[str, Any], seconds: float) -> Any:
    """In the other process: vl-convert's result. The system ends that process after so many seconds."""
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
    except BrokenProcessPool:  # its process has ended since the last picture
        _pool.cache_clear()
        return _pool().submit(function, *arguments)


@cache
def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, get_context("spawn"), initializer=_start)


def _start() -> None:
    """In the other process, once."""
    os.nice(NICENESS)
    threading.Thread(target=_end_with_the_server, daemon=True).start()


def _end_with_the_server() -> None:
    if server := parent_process():
        server.join()
        os._exit(1)
