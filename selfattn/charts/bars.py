"""Bar charts: rows of numbers on one scale, a short list, long vectors as strips, and one word's row in A against B.

A spec holds indices, numbers of six digits, and each label once, so that it stays small with 512 tokens.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from selfattn.charts.labels import expression, label_axis
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, calculate, either, field, layered, marks, nominal, span, stacked
from selfattn.numbers import FINE, WEIGHT

LABEL_STEP = 14  # pixels: bars closer than this show their labels in the tooltip only
LETTER = 6  # pixels per letter: labels that fit below their bars are horizontal
WIDTH = 400
LIST_STEP, WORD_STEP = 30, 24  # pixels between two bars of a list, and between two words of A against B


@dataclass(frozen=True)
class Row:
    """One row of numbers to draw."""

    name: str  # drawn at its left: "A", "is" ...
    values: Sequence[float]
    labels: Sequence[str]  # one per value
    color: str
    marked: int | None = None  # the index that gets an outline


def bars(
    rows: Sequence[Row], theme: Theme, *, what: str = "value", width: int = WIDTH, height: int = 62, top: float = 0.0
) -> Spec:
    """Draw rows one above the other on one scale, one bar per number; minus infinity is written in place of a bar.

    top: the scale reaches at least this value, so that two charts can share one scale.
    """
    finite = [value for row in rows for value in row.values if math.isfinite(value)]
    low, high = min([0.0, *finite]), max([top, *finite])
    domain = (low, high if low < high else 1.0)
    return stacked(*(_bars(row, theme, what, width, height, domain) for row in rows), spacing=6)


def _bars(row: Row, theme: Theme, what: str, width: int, height: int, domain: tuple[float, float]) -> Spec:
    labels = list(map(str, row.labels))
    n = len(row.values)
    flat = LETTER * max(map(len, labels), default=0) <= width / n
    axis = label_axis(labels, labelAngle=0 if flat else -45, labelLimit=180, labelFontSize=11)
    # Every layer names the axis: merged with a default axis, it would lose some labels.
    across = {"axis": axis if n * LABEL_STEP <= width else None}
    ticks = {"labelFontSize": 10, "tickCount": 3, "format": ".3~g", "minExtent": 38, "maxExtent": 38}
    encoding = {
        "x": field("x", **across, scale=span(-0.6, n - 0.4)),
        "x2": {"field": "x2"},
        "y": field("v", title=what, scale={"domain": list(domain), "nice": False}, axis=ticks),
        "y2": {"field": "zero"},
        "tooltip": [field("i", title="number"), nominal("label"), field("v", title=what, format=".4~g")],
    }
    edges = calculate(x="datum.i - 0.42", x2="datum.i + 0.42", zero="0", label=f"{expression(labels)}[datum.i]")
    drawn = marks("rect", encoding, "numbers", edges, color=row.color, cornerRadius=1)
    datasets = {"numbers": _values(row.values)}
    layers = [drawn]
    if places := [i for i, value in enumerate(row.values) if not math.isfinite(value)]:
        # Mark a number that isn't finite by a pale band and the sign of minus infinity.
        datasets["hidden"] = [{"i": i, "value": "minus infinity"} for i in places]
        tooltip = [field("i", title="number"), nominal("value")]
        band = {"x": field("x", **across), "x2": {"field": "x2"}, "tooltip": tooltip}
        edges = calculate(x="datum.i - 0.5", x2="datum.i + 0.5")
        layers.append(marks("rect", band, "hidden", edges, color=theme.grid, opacity=0.8))
        if across["axis"]:
            place = {"x": field("i", **across), "y": {"datum": sum(domain) / 2}}
            layers.append(marks("text", place, "hidden", text="−∞", fontSize=12, color=theme.muted))
    if row.marked is not None:
        datasets["marked"] = [{"x": row.marked - 0.5, "x2": row.marked + 0.5}]
        outline = {"fillOpacity": 0, "stroke": theme.ink, "strokeWidth": 1.5, "cornerRadius": 2}
        layers.append(marks("rect", {"x": field("x", **across), "x2": {"field": "x2"}}, "marked", **outline))
    return layered(layers, datasets, theme, width, height, title=_name(row, 6))


def _values(values: Sequence[float]) -> list[dict[str, float]]:
    numbers = map(float, values)
    return [{"i": i, "v": float(f"{v:.6g}")} for i, v in enumerate(numbers) if math.isfinite(v)]


def _name(row: Row, offset: int) -> Spec:
    return {
        "text": row.name, "orient": "left", "angle": 0, "anchor": "middle", "color": row.color, "fontSize": 13,
        "offset": offset,
    }  # fmt: skip


def bar_list(
    frame: pd.DataFrame,
    value: str,
    theme: Theme,
    number: str = WEIGHT,
    domain: tuple[float, float] | None = None,
    width: int = 240,
    marked: int | None = None,
) -> Spec:
    """Draw one horizontal bar per row, in the frame's order, with its number at the end; the largest is deep blue.

    frame: columns "token" and `value`. number: a d3 format. domain: the ends of the scale (None: the values' own, with zero and
    room for the numbers). marked: the index of the deep blue row (None: that of the largest value).
    """
    deep = frame[value] == frame[value].max() if marked is None else [place == marked for place in range(len(frame))]
    data = frame[["token", value]].assign(place=range(len(frame)), largest=deep)
    axis = label_axis(frame["token"].astype(str).tolist(), labelLimit=160, labelPadding=6)
    place = {"y": field("place", "ordinal", axis=axis)}
    ends = {"domain": list(domain or _roomy(frame[value])), "nice": False}
    bar = {
        **place,
        "x": field(value, title=None, scale=ends, axis=None),
        "color": either("datum.largest", theme.weights[4], theme.weights[2]),
        "tooltip": [nominal("token"), field(value, format=number)],
    }
    text = {**place, "x": field("end"), "text": field(value, format=number)}
    beyond = calculate(end=f"max(0, datum['{value}'])")
    layers = [
        marks("bar", bar, height=16, cornerRadiusEnd=2),
        marks("rule", {"x": field("zero")}, "zero", color=theme.muted),
        marks("text", text, transform=beyond, align="left", dx=5, color=theme.ink),
    ]
    datasets = {"bars": data, "zero": [{"zero": 0.0}]}
    return layered(layers, datasets, theme, width, LIST_STEP * len(frame), data={"name": "bars"})


def _roomy(values: pd.Series) -> tuple[float, float]:
    """A domain that holds zero, every bar, and the number at its end."""
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    room = 0.25 * ((high - low) or 1.0)
    return (low - room if low < 0 else 0.0), high + room


def butterfly(frame: pd.DataFrame, theme: Theme, *, name: str) -> Spec:
    """Draw one word's weights in A against B: for each word of both, a bar to the left for A and one to the right for B.

    frame: tidy_tables.against_frame (text, only, a, b). A word that only one sentence has gets that sentence's colour.
    name: the head's, for the title.
    """
    colors = [theme.sentence(only) for only in frame["only"]]
    axis = label_axis(
        frame["text"].tolist(), labelColor={"expr": f"{expression(colors)}[datum.value]"}, labelFontSize=13,
        labelLimit=120,
    )  # fmt: skip
    most = float(frame[["a", "b"]].max().max()) or 1.0
    y = field("place", scale=span(-0.5, len(frame) - 0.5, reverse=True), axis=axis)
    tooltip = [
        nominal("text", title="word"),
        field("a", title="in A", format=FINE),
        field("b", title="in B", format=FINE),
    ]
    layers = []
    for side, sign in (("a", "-"), ("b", "")):
        here = [{"filter": f"isValid(datum.{side})"}, *calculate(x=f"{sign}datum.{side}", zero="0")]
        ends = calculate(top="datum.place - 0.36", bottom="datum.place + 0.36")
        x = field("x", scale=span(-1.25 * most, 1.25 * most), axis=None)
        bar = {
            "x": x, "x2": {"field": "zero"}, "y": {**y, "field": "top"}, "y2": {"field": "bottom"},
            "color": nominal("color", scale=None), "tooltip": tooltip,
        }  # fmt: skip
        text = {"x": x, "y": y, "text": field(side, format=".2f")}
        beside = {"align": "right", "dx": -4} if side == "a" else {"align": "left", "dx": 4}
        layers += [
            marks("rect", bar, "words", [*here, *ends], cornerRadius=1),
            marks("text", text, "words", here, **beside),
        ]
    words = frame.assign(place=range(len(frame)), color=colors)
    title = {"text": f"A against B   {name}", "subtitle": "attention in A to the left, in B to the right"}
    return layered(layers, {"words": words}, theme, 420, WORD_STEP * len(frame), title=title)
