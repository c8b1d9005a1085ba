"""Draw two texts and their cosine as one picture."""

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from selfattn import numbers
from selfattn.charts.moved_word import Scale, placed_words, row, wrapped
from selfattn.charts.shaded import tinted_word
from selfattn.charts.sheet import Align, Sheet
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec

WIDTH = 760  # pixels, the default
FINDING, TEXT, SMALL = 20, 22, 12.5  # font sizes in pixels
LINE, BETWEEN = 50, 70  # pixels: from one line of a text to the next; between the texts
BIN, TALLEST = 0.02, 46  # the histogram: the width of a bar, as a cosine; the height of the highest bar, in pixels
STEPS = 24  # straight pieces of a curve


def similar(data: Mapping[str, Any], theme: Theme, width: int | None = None) -> Spec:
    """Draw two texts and their cosine. data: see dashboard/components/similar.schema.json."""
    sheet, width = Sheet(theme), width or WIDTH
    y = sheet.lines(0, FINDING, wrapped(data["finding"], width, FINDING, bold=True), FINDING, bold=True)
    for line in data["below"]:
        y = sheet.lines(0, y, wrapped(line, width, SMALL), SMALL, theme.muted)
    y = _texts(sheet, data, y + 30, width)
    y = _cosine(sheet, data, y + 40, width)
    return sheet.drawn(width, math.ceil(y))


def _texts(sheet: Sheet, data: Mapping[str, Any], y: float, width: float) -> float:
    theme, placed, tops = sheet.theme, [], []
    for side in data["sides"]:
        words = placed_words(side, width - 30, TEXT)
        placed.append(words)
        tops.append(y)
        y += LINE * (1 + (words[-1].line if words else 0)) - LINE + BETWEEN
    bottom = y - BETWEEN + 26
    baseline = lambda side, one: tops[side] + LINE * one.line + TEXT  # noqa: E731
    largest = max((line[3] for line in data["lines"]), default=1.0)
    for a, b, _, interaction in data["lines"]:
        one, other = placed[0][a], placed[1][b]
        start = (30 + one.middle, baseline(0, one) + 7)
        stop = (30 + other.middle, baseline(1, other) - TEXT)
        sheet.path(_curve(start, stop), theme.weights[2], 1.5 + 8.5 * interaction / largest, what="pair")
    for number, (side, words) in enumerate(zip(data["sides"], placed)):
        sheet.text(0, tops[number] + TEXT, side["name"], TEXT, theme.sentence(side["name"]), bold=True)
        for one in words:
            y = baseline(number, one)
            tinted_word(sheet, theme.effect, one, 30 + one.x, y, TEXT, y + 20 if number else y - TEXT - 5)
    return bottom


def _curve(start: tuple[float, float], stop: tuple[float, float]) -> list[tuple[float, float]]:
    bend = np.array([0, max(20.0, (stop[1] - start[1]) / 2)])
    t = np.linspace(0, 1, STEPS + 1)[:, None]
    ends = (1 - t) ** 2 * ((1 - t) * np.array(start) + 3 * t * (start + bend)) + t**2 * (
        3 * (1 - t) * (stop - bend) + t * np.array(stop)
    )
    return [(float(x), float(y)) for x, y in ends]


def _cosine(sheet: Sheet, data: Mapping[str, Any], y: float, width: float) -> float:
    """Draw the cosine on an axis. Return the y coordinate below the drawing."""
    theme, cosine = sheet.theme, row(data["cosines"][0], 1000)[0] or 0.0
    others = [value or 0.0 for value in row(data["unrelated"]["cosines"], 1000)] if data["unrelated"] else []
    low = min(0.0, cosine, *others)
    place = Scale(low, 1.0, 12, width - 12)
    axis = y + (TALLEST if others else 0)
    counts = Counter(math.floor(value / BIN) for value in others)
    for n, count in counts.items():
        top, said = axis - TALLEST * count / max(counts.values()), f"{count} of {len(others)} unrelated pairs"
        sheet.rect(
            place(n * BIN), top, place((n + 1) * BIN) - 1, axis, theme.muted, opacity=0.45, said=said, what="unrelated"
        )
    sheet.rule(0, axis, width, axis, theme.muted)
    for tick in (0, 0.25, 0.5, 0.75, 1):
        align: Align = "right" if tick == 1 else "center"
        sheet.rule(place(tick), axis, place(tick), axis + 5, theme.muted)
        sheet.text(place(tick), axis + 20, numbers.decimal(tick), SMALL, theme.muted, align=align)
    sheet.point(place(cosine), axis, 8, theme.weights[4], what="cosine", value=cosine)
    lines = [f"Cosine {numbers.cosine(cosine)}."]
    if others:
        lines[0] += (
            f" Grey bars show {len(others):,} unrelated pairs; "
            f"their median cosine is {numbers.cosine(data['unrelated']['median'])}."
        )
    if data["sum"]:
        lines.append(_sum(sheet, data, axis + 30, place))
        axis += 16
    for line in lines:
        y = sheet.lines(0, y if line != lines[0] else axis + 44, wrapped(line, width, SMALL), SMALL, theme.muted)
    return y


def _sum(sheet: Sheet, data: Mapping[str, Any], y: float, place: Scale) -> str:
    """Draw the parts of the cosine as bars, and return a text with their sum."""
    theme, parts, n, end = sheet.theme, data["sum"], len(data["lines"]), 0.0
    named = [
        (
            "the pair joined by a line" if n == 1 else f"the {n} pairs joined by a line",
            parts["lines"],
            theme.weights[4],
            1.0,
        ),
        ("all other pairs of words", parts["others"], theme.weights[4], 0.35),
        ("pairs with a special token", parts["special"], theme.muted, 0.5),
    ]
    named = named if n else named[1:]
    for name, value, color, opacity in named:
        left, right = sorted((place(end), place(end + value)))
        color = color if value >= 0 else theme.effect[1]
        sheet.rect(
            left, y, max(left + 1, right - 1), y + 12, color, opacity=opacity, what="part", value=value, said=name
        )
        end += value
    texts = " + ".join(f"{numbers.decimal(value, 3)} {name}" for name, value, *_ in named)
    return f"As a sum: {texts} = {numbers.decimal(end, 3)} (differs from the cosine by {parts['difference']})."
