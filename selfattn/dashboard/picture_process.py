"""A process of its own that draws the pictures of downloads: vl-convert holds the interpreter's lock while it draws.

One for all visitors, one picture after the other, and after the rest: it leaves the processors to pages and encoders.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partialmethod
from typing import Any

from selfattn.encoders.bounded_process import BoundedProcess

LONGEST = 60.0  # seconds that one picture may take
PATIENCE = 10  # by how much its process stands back behind the server's own (nice)

_drawing = BoundedProcess()


class Painter:
    """Stands for vl-convert where a picture is drawn for a visitor. still_wanted() is called before each; it may raise."""

    def __init__(self, still_wanted: Callable[[], None] = lambda: None):
        self._still_wanted = still_wanted

    def _draw(self, how: str, what: Any, **options: Any) -> Any:
        self._still_wanted()
        return _drawing.call(f"{__name__}:draw", how, what, options, seconds=LONGEST)

    vegalite_to_svg = partialmethod(_draw, "vegalite_to_svg")  # as in vl-convert
    svg_to_png = partialmethod(_draw, "svg_to_png")
    javascript_bundle = partialmethod(_draw, "javascript_bundle")


@contextmanager
def drawn_elsewhere(still_wanted: Callable[[], None]) -> Iterator[None]:
    """Inside the `with` the library's pictures (selfattn.export) are drawn by the process."""
    from selfattn.export.files import painter  # not at the top: the process itself needs vl-convert only

    before = painter.set(Painter(still_wanted))
    try:
        yield
    finally:
        painter.reset(before)


def draw(how: str, what: Any, options: dict[str, Any]) -> Any:
    """In the process: vl-convert's result. Raises ValueError as it does."""
    _stand_back()
    import vl_convert

    return getattr(vl_convert, how)(what, **options)


@cache
def _stand_back() -> None:
    os.nice(PATIENCE)
