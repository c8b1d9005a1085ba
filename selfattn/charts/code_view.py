"""Lines of code one beneath the other, of which some are lit; and the kernel's own lines, read from it and never retyped."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from functools import cache
from typing import Any

from selfattn import kernel
from selfattn.charts.vega import Spec, calculate, field, marks, nominal, span

ROW = 18  # pixels a line


def source(function: Callable) -> str:
    """A function's own text, without its docstring and the call that checks its input."""
    text = textwrap.dedent(inspect.getsource(function))
    docstring = ast.parse(text).body[0].body[0]
    lines = text.splitlines()
    kept = lines[: docstring.lineno - 1] + lines[docstring.end_lineno :]
    return "\n".join(line for line in kept if not line.strip().startswith("check_inputs("))


@cache
def kernel_lines() -> dict[str, str]:
    """The kernel's lines, without their comments, by the name that each makes."""
    (attend,) = ast.parse(source(kernel.attend)).body
    return {line.targets[0].id: ast.unparse(line) for line in attend.body if isinstance(line, ast.Assign)}


def indented(line: str) -> str:
    """The line so that Vega draws its indentation: it leaves blanks away but for those after a space of no width."""
    blank = len(line) - len(line.lstrip())
    return "\u200b" * (blank > 0) + "\u00a0" * blank + line.lstrip()


def code_view(
    rows: list[dict], place: str, title: str, width: int, lit: Spec, ink: Spec, size: int | Spec = 12, **look: Any
) -> Spec:
    """Lines of code one beneath the other, a row each: its `text`, and its number from 0 in the column `place`.

    lit, ink: the channels for how much of the band behind a line is seen (of this look), and for the line's colour. size:
    of its letters, in pixels.
    """
    y = field(place, scale=span(-0.5, len(rows) - 0.5, reverse=True), axis=None)
    x = {"datum": 0.0, "type": "quantitative", "scale": span(0, 1), "axis": None}
    band = {"y": {**y, "field": "top"}, "y2": {"field": "bottom"}, "opacity": lit}
    text = {"y": y, "x": x, "text": nominal("text"), "color": ink}
    whole = calculate(top=f"datum.{place} - 0.5", bottom=f"datum.{place} + 0.5")
    return {
        "name": "code",
        "data": {"values": rows},
        "title": {"text": title, "fontSize": 12},
        "layer": [
            marks("rect", band, "", whole, **look),
            marks("text", text, align="left", dx=6, fontSize=size, font="monospace"),
        ],
        "width": width,
        "height": ROW * len(rows),
    }
