"""Make the figure in which a lesson page shows what a head computes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from selfattn import numbers
from selfattn.charts.arrows import moves
from selfattn.charts.bars import bar_list
from selfattn.charts.heatmap import heatmap
from selfattn.charts.theme import Theme
from selfattn.panel import Live, Panel
from selfattn.views.lesson import Drawing, drawing, lesson_panel

VERSION = 1
SHARE = (0.0, 1.0)  # ends of a scale for parts of 1

Point = Sequence[float] | Tensor
Ends = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Column:
    """A column of numbers, with a row for each word."""

    name: str  # the same on each lesson page
    title: str
    values: Tensor  # (n, m): cells; (n,): bars
    ends: Ends | None = None  # smallest range of the bars; SHARE: parts of 1; None: cells
    shape: str = ""
    above: tuple[str, Tensor] | None = None  # matrix or query from which the column is computed: title, numbers
    foot: tuple[str, Tensor] | None = None  # the column's sum: title, numbers (m,)
    tips: Sequence[Sequence[str]] = ()  # each number's arithmetic
    asked: bool = False  # empty until the visitor answers

    @property
    def places(self) -> int:
        """The number of decimals to print: 0 for whole numbers, else 2."""
        known = torch.cat([each.flatten() for each in (self.values, self.foot[1] if self.foot else self.values)])
        return 0 if bool((known == known.round()).all()) and self.ends != SHARE else 2

    @property
    def reach(self) -> list[float]:
        """The ends of the bars' scale, which includes all finite numbers."""
        finite = self.values[self.values.isfinite()].tolist()
        return [min(self.ends[0], *finite), max(self.ends[1], *finite)] if self.ends else list(SHARE)

    def data(self, answered: bool) -> dict[str, Any]:
        """Return the data in the format of stage.schema.json."""
        empty = self.asked and not answered
        rows = self.values.reshape(len(self.values), -1)
        return {
            "name": self.name, "title": self.title, "shape": self.shape, "places": self.places,
            "kind": "cells" if self.ends is None else "share" if self.ends == SHARE else "bars",
            "ends": self.reach, "across": rows.shape[1],
            "rows": [] if empty else _rows(rows), "tips": [] if empty else list(map(list, self.tips)),
            "above": self.above and {"title": self._above(empty), "rows": [] if empty else _rows(self.above[1])},
            "foot": self.foot and {"title": self.foot[0], "row": [] if empty else _rows(self.foot[1].reshape(1, -1))[0]},
        }  # fmt: skip

    def _above(self, empty: bool) -> str:
        title, matrix = self.above or ("", torch.empty(0))
        return title if empty or len(matrix) == 1 else f"{title} {' × '.join(map(str, matrix.shape))}"

    def chart(self, words: Sequence[str]) -> Drawing:
        """Draw the numbers as a static bar chart or heatmap, with a row for each word."""
        if self.ends is not None:
            values = self.values.flatten().tolist()
            tokens = [f"{word} −∞" if value == -math.inf else word for word, value in zip(words, values)]
            frame = pd.DataFrame(
                {"token": tokens, self.title: [value if value > -math.inf else None for value in values]}
            )
            low, high = self.reach
            return drawing(bar_list, frame, self.title, width=110, domain=(low, high + 0.35 * (high - low)))
        across = [str(n + 1) for n in range(self.values.shape[1])]
        look = {"kind": "signed", "names": ("", "number"), "cell": (46, 34), "numbers": f".{self.places}f"}
        return drawing(heatmap, self.values, list(words), columns=across, **look)


@dataclass(frozen=True, eq=False)
class Mark:
    """A dot, or an arrow from `origin`, in a plane."""

    name: str
    label: str
    at: Point
    origin: Point | None = None
    kind: str = ""  # colour: "ink", "a", "b", "minus", "chain"
    width: float = 0.0  # of an arrow, 0 to 1
    tip: str = ""
    before: tuple[Point | None, Point] | None = None  # (origin, at) until the visitor answers
    asked: bool = False  # absent until the visitor answers

    def data(self, answered: bool) -> dict[str, Any]:
        """Return the data in the format of stage.schema.json."""
        origin, at = (self.origin, self.at) if answered or not self.before else self.before
        return {
            "name": self.name, "label": self.label, "kind": self.kind, "width": round(self.width, 3), "tip": self.tip,
            "at": _point(at), "origin": None if origin is None else _point(origin),
        }  # fmt: skip


@dataclass(frozen=True)
class Plane:
    """A plot of two-dimensional vectors or points."""

    name: str
    title: str
    marks: Sequence[Mark]
    ends: tuple[Ends, Ends]
    axes: tuple[str, str] = ("", "")
    corners: tuple[str, str] = ("", "")  # texts above and below a diagonal; none: no diagonal

    def data(self, answered: bool) -> dict[str, Any]:
        """Return the data in the format of stage.schema.json."""
        shown = [mark.data(answered) for mark in self.marks if answered or not mark.asked]
        return {
            "name": self.name, "title": self.title, "marks": shown, "ends": list(map(list, self.ends)),
            "axes": list(self.axes), "corners": list(self.corners),
        }  # fmt: skip

    def chart(self, theme: Theme) -> Any:
        """Return the plot as a static chart."""
        hues = {"a": theme.sentence_a, "b": theme.sentence_b, "ink": theme.ink}
        hues |= {"minus": theme.signed[0], "chain": theme.sentence_b}
        rows = [
            (*(mark["origin"] or mark["at"]), *mark["at"], mark["label"], hues.get(mark["kind"], theme.weights[4]))
            for mark in self.data(answered=True)["marks"]
        ]
        frame = pd.DataFrame(rows, columns=["x0", "y0", "x", "y", "label", "colour"])
        return moves(frame, theme, self.ends, self.axes)


@dataclass(frozen=True)
class Scene:
    """The part of the lesson's figure that one page shows."""

    finding: str
    words: Sequence[str] = ()
    columns: Sequence[Column] = ()
    planes: Sequence[Plane] = ()
    sum: Sequence[Column] = ()  # vectors (1, m) beneath the columns; the last is the sum
    asks: int = -1  # index of the query's word
    lit: int = -1  # index of the row highlighted at first
    hidden: int = -1  # index of the hidden word
    lines: Sequence[str] = ()  # each word's arithmetic
    sentences: Sequence[tuple[str, str, str, str]] = ()  # text before the word, the word, text after it, its kind
    note: str = ""


def square(*vectors: Tensor) -> tuple[Ends, Ends]:
    """Return the ends of two equal axes, wide enough for the origin and the vectors (..., 2)."""
    every = torch.cat([vector.flatten() for vector in vectors])
    ends = min(0.0, float(every.min())) - 0.5, max(0.0, float(every.max())) + 0.5
    return ends, ends


def stage_data(scene: Scene | None, outline: Sequence[Mapping[str, Any]], stop: str, answered: bool) -> dict[str, Any]:
    """Return the data of the component `stage`.

    scene: None for no picture. outline: a box for each part of the course, in order. stop: the page's name.
    """
    shown = scene or Scene("")
    return {
        "version": VERSION, "key": "stage", "stop": stop, "outline": list(outline),  # the same key for all pages
        "finding": shown.finding if answered else "", "about": _about(shown, answered) if scene else "",
        "words": list(shown.words), "asks": shown.asks, "lit": shown.lit, "hidden": shown.hidden,
        "lines": list(shown.lines) if answered else [], "note": shown.note if answered else "",
        "columns": [column.data(answered) for column in shown.columns],
        "sum": [column.data(answered) for column in shown.sum],
        "planes": [plane.data(answered) for plane in shown.planes],
        "sentences": list(map(list, shown.sentences)),
    }  # fmt: skip


def stage_panel(scene: Scene, outline: Sequence[Mapping[str, Any]], stop: str) -> Panel:
    """Make the figure that a lesson page shows once the visitor has answered. stop: the page's name."""
    charts: dict[str, Drawing] = {column.title: column.chart(scene.words) for column in scene.columns}
    charts |= {column.title: column.chart([""]) for column in scene.sum}
    charts |= {plane.title: plane.chart for plane in scene.planes}
    live = Live("stage", stage_data(scene, outline, stop, answered=True))
    return replace(lesson_panel("stage", scene.finding, charts, 4), alt=live.data["about"], live=live)


def _about(scene: Scene, answered: bool) -> str:
    parts = [scene.finding] if answered else ["The answer isn't shown yet."]
    for column in (*scene.columns, *scene.sum):
        if answered or not column.asked:
            words = scene.words if column in scene.columns else [""]
            texts = (numbers.vector(row, column.places) for row in column.values.reshape(len(column.values), -1))
            said = ", ".join(f"{word} {text}".strip() for word, text in zip(words, texts))
            parts.append(f"{column.title}: {said}.")
    for plane in scene.planes:
        marks = [mark for mark in plane.data(answered)["marks"] if mark["label"]]
        said = ", ".join(f"{mark['label']} at {mark['at'][0]}, {mark['at'][1]}".replace("-", "−") for mark in marks)
        parts.append(f"{plane.title}: {said}.")
    return " ".join(parts)


def _rows(matrix: Tensor) -> list[list[float | str]]:
    """Return the rows, rounded to four decimals. Minus infinity becomes text."""
    return [[round(value, 4) if value > -torch.inf else "−∞" for value in row] for row in matrix.tolist()]


def _point(at: Point) -> list[float]:
    return [round(float(part), 3) for part in at]
