"""A process of its own that draws the pictures of downloads: vl-convert holds the interpreter's lock while it draws.

One for all visitors, one picture after the other, and after the rest: it leaves the processors to pages and encoders.
"""

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partialmethod
from typing import Any

import vl_convert

LONGEST = 60.0  # seconds that one picture may take
PATIENCE = 10  # by how much its process stands back behind the server's own (nice)


class Painter:
    """Stands for vl-convert where a picture is drawn for a visitor. still_wanted() is called before each; it may raise."""

    def __init__(self, still_wanted: Callable[[], None] = lambda: None):
        self._still_wanted = still_wanted

    def _draw(self, how: str, what: Any, **options: Any) -> Any:
        self._still_wanted()
        return _painting.draw(how, what, options)

    vegalite_to_svg = partialmethod(_draw, "vegalite_to_svg")  # as in vl-convert
    svg_to_png = partialmethod(_draw, "svg_to_png")


class _Painting:
    """The process. It starts with the first picture, and anew where it has died; it ends with this one."""

    def __init__(self):
        self._process: Any = None  # a Popen with both its pipes
        self._lock = threading.Lock()

    def draw(self, how: str, what: Any, options: dict[str, Any]) -> Any:
        """vl-convert's result. Raises ValueError as it does, and RuntimeError for a picture that ends the process twice."""
        with self._lock:
            for _ in range(2):  # it may have died long before
                try:
                    result, problem = self._answer((how, what, options))
                    break
                except (EOFError, OSError, pickle.UnpicklingError):
                    self._end()
            else:
                raise RuntimeError("This picture can't be drawn here: what draws it ended or took too long, twice.")
        if problem is not None:
            raise ValueError(problem)
        return result

    def _answer(self, question: tuple) -> tuple[Any, str | None]:
        if self._process is None:
            # -P: this file's folder has modules named like Python's own.
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        late = threading.Timer(LONGEST, self._process.kill)
        late.daemon = True
        late.start()
        try:
            pickle.dump(question, self._process.stdin)
            self._process.stdin.flush()
            return pickle.load(self._process.stdout)
        finally:
            late.cancel()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


_painting = _Painting()


@contextmanager
def drawn_elsewhere(still_wanted: Callable[[], None]) -> Iterator[None]:
    """Inside the `with` the library's pictures (selfattn.export) are drawn by the process."""
    from selfattn.export.files import painter  # not at the top: the process itself needs vl-convert only

    before = painter.set(Painter(still_wanted))
    try:
        yield
    finally:
        painter.reset(before)


def _serve() -> None:
    """Answer each question on standard input; its end is the server's."""
    os.nice(PATIENCE)
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            how, what, options = pickle.load(questions)
        except EOFError:
            return
        result = problem = None
        try:
            result = getattr(vl_convert, how)(what, **options)
        except ValueError as error:
            problem = str(error)
        pickle.dump((result, problem), answers)
        answers.flush()


if __name__ == "__main__":
    _serve()
