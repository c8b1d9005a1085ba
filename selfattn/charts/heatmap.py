"""Draw a matrix as coloured cells.

A map of more than CELLS rows is one image, because many single cells are slow to draw.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from selfattn.charts.labels import LABELS, expression, label_axis
from selfattn.charts.theme import SWATCHES, Theme
from selfattn.charts.vega import Spec, backdrop, calculate, either, field, layered, marks, nominal, picture, scale, span
from selfattn.numbers import ERROR, FINE, WEIGHT, fitting

CELLS = 64
ROUNDING = 1e-3  # smaller differences are rounding errors; they are printed with a power of ten
LIMIT, LETTER = 90, 7  # pixels: the largest width of a label; the mean width of a letter
GAP = 8  # pixels: between a label and the map
DARK_CELL = 0.6  # above this part of the maximum, a number has the background's colour


def heatmap(
    matrix: Any,
    rows: Sequence[str],
    theme: Theme,
    *,
    columns: Sequence[str] | None = None,
    kind: str = "weights",
    maximum: float | None = None,
    marked: Sequence[int] = (),
    title: str = "",
    color: str | None = None,
    size: int = 400,
    letters: int = 12,
    beside: Sequence[Sequence[str]] = (),
    legend: str = "",
    ends: Sequence[str] = (),
    cell: int | tuple[int, int] | None = None,
    numbers: str | Sequence[str] | None = WEIGHT,
    names: tuple[str, str] = ("from", "to"),
) -> Spec:
    """Draw a matrix (n, m) as a map or, if `cell` is given, as a small table.

    rows, columns: the labels (columns None: same as rows).
    kind: "weights" (0 to maximum), "signed" or "effect" (-maximum to maximum).
    maximum: None for the largest absolute number. marked: the indices of neighbouring rows to outline.
    size: the width of a map in pixels. letters: the font size of labels on an axis with at most 24 labels.
    beside: the token labels of every map in the same row of maps; all these maps get cells of one size.
    ends: the names of two encoders, if the matrix is their difference.
    cell: the size of a table's cell in pixels, or (width, height).
    numbers: what a table's cells print: a d3 format for the numbers, a text for each cell, or None (nothing).
    """
    matrix = np.asarray(matrix, float)
    columns = rows if columns is None else columns
    maximum = maximum or float(np.nanmax(np.abs(matrix), initial=0.0)) or 1e-12
    precise, short, written = (FINE, WEIGHT, WEIGHT) if kind == "weights" else ("+.4f", fitting(maximum), WEIGHT)
    if kind != "weights" and maximum < ROUNDING:
        precise = short = written = f"+{ERROR}"
    written = numbers if isinstance(numbers, str) else written
    if cell:
        across, down = cell if isinstance(cell, tuple) else (cell, cell)
        width, height, precise = across * len(columns), down * len(rows), written
        bar = {"title": None, **SWATCHES, "format": written}
        look = {"labelLimit": 160, "labelPadding": 6}
        right = label_axis(columns, orient="top", labelAngle=-45, title=f"{names[1]} →", **look)
        axes = _axes(columns, right, rows, label_axis(rows, labelAngle=0, title=names[0], **look))
    else:
        width, most = size, max(map(len, beside), default=len(columns))
        height = size * len(rows) / most if beside else size
        bar = {"title": legend or "weight", **SWATCHES, "format": short}
        axes = token_axes(rows, columns, names, beside, letters)
    printed = cell and isinstance(numbers, str)  # cells with numbers need no legend
    bar["labelExpr"] = "datum.value == 0 ? '0' : datum.label"
    bar["values"] = np.linspace(*((0, maximum, 4) if kind == "weights" else (-maximum, maximum, 3))).tolist()
    if ends:  # a swatch for each colour, with numbers at the ends and in the middle
        bar["title"] = [f"{sign} more in {name}" for sign, name in zip("+−", ends)]
        bar["values"] = np.linspace(-maximum, maximum, len(theme.signed)).tolist()
        bar["labelExpr"] = f"abs(abs(datum.value) / {maximum} - 0.5) < 0.1 ? '' : {bar['labelExpr']}"
        ink = {"titleColor": theme.ink, "labelColor": theme.ink}
        bar |= {"titleFontSize": 13, "labelFontSize": 13, "titleLimit": 0, "columnPadding": 6, **ink}
    shades = {"scale": scale(theme, kind, maximum), "legend": None if printed else {**bar, "orient": "bottom"}}
    if len(rows) <= CELLS:
        stroke = {"stroke": theme.grid if cell else theme.background, "strokeWidth": 0.5 if len(rows) <= 40 else 0}
        what = legend or ("value" if cell else "weight")
        layers, datasets = _cells(matrix, rows, columns, axes, shades, names, what, precise, stroke)
    else:
        layers, datasets = _image(matrix, rows, columns, axes, shades, theme, kind, maximum)
        if beside:  # the map doesn't fill the plot
            layers[0]["mark"]["width"] = size * len(columns) / most
    if cell and np.isnan(matrix).any():
        datasets["empty"] = [{"x": int(j), "y": int(i)} for i, j in np.argwhere(np.isnan(matrix))]
        edges = {"left": "datum.x - 0.45", "right": "datum.x + 0.45", "low": "datum.y - 0.45", "high": "datum.y + 0.45"}
        frame = {"x": field("left"), "x2": {"field": "right"}, "y": field("low"), "y2": {"field": "high"}}
        layers.append(marks("rect", frame, "empty", calculate(**edges), fillOpacity=0, stroke=theme.grid))
    if cell and numbers is not None:
        layers.append(_numbers(numbers, theme, maximum))
        if not isinstance(numbers, str):
            datasets["cells"] = [{**record, "label": numbers[i]} for i, record in enumerate(datasets["cells"])]
            layers[0]["encoding"]["tooltip"].insert(2, nominal("label"))
    if len(marked):
        datasets["marked"] = [{"low": min(marked) - 0.5, "high": max(marked) + 0.5}]
        edges = {**_whole_width(len(columns)), "y": field("low"), "y2": {"field": "high"}}
        layers.append(marks("rect", edges, "marked", fillOpacity=0, stroke=theme.ink, strokeWidth=2))
    for layer in layers:  # a layer without an axis would get Vega's default axis, which drops labels
        for channel in "xy":
            layer["encoding"][channel].setdefault("axis", axes[channel]["axis"])
    if beside:  # an invisible line makes the room for labels equal in all maps
        datasets["reach"] = [{"line": 0}]
        line = {"x": {"value": 0}, "x2": {"value": size + LIMIT / 2}, "y": {"value": 0}}
        layers.append(marks("rule", line, "reach", opacity=0))
    named = {"title": {"text": title, "color": color or theme.ink}} if title else {}
    return layered(layers, datasets, theme, width, height, **named)


def token_axes(
    rows: Sequence[str], columns: Sequence[str], names: tuple[str, str], beside: Sequence[Sequence[str]], letters: int
) -> dict[str, Spec]:
    """Return the Vega-Lite channels x and y of a map whose rows and columns are tokens."""
    most, wide = max(map(len, beside), default=0), max((len(text) for texts in beside for text in texts), default=0)
    limit = min(LIMIT, LETTER * wide) if beside else LIMIT

    def axis(labels: Sequence[str], **more: Any) -> Spec:
        n = max(most, len(labels))
        return label_axis(
            labels, every=-(-n // LABELS), labelFontSize=letters if n <= 24 else 10, labelLimit=limit, **more
        )

    right = axis(
        columns,
        orient="top",
        labelAngle=-60,
        labelBaseline="middle",
        labelPadding=7,
        minExtent=54,
        title=f"{names[1]} →",
    )
    return _axes(
        columns, right, rows, axis(rows, minExtent=limit + GAP if beside else 44, labelPadding=5, title=names[0]), most
    )


def _axes(columns: Sequence[str], across: Spec, rows: Sequence[str], down: Spec, most: int = 0) -> dict[str, Spec]:
    return {
        "x": field("x", scale=span(-0.5, max(most, len(columns)) - 0.5), axis=across),
        "y": field("y", scale=span(-0.5, len(rows) - 0.5, reverse=True), axis=down),
    }


def _cells(matrix, rows, columns, axes, shades, names, what, precise, stroke) -> tuple[list[Spec], dict[str, list]]:
    cells = [
        {"row": i, "column": j, "value": value}
        for i, line in enumerate(matrix.tolist())
        for j, value in enumerate(line)
        if math.isfinite(value)
    ]
    named = {
        names[0]: f"{expression(map(str, rows))}[datum.row]",
        names[1]: f"{expression(map(str, columns))}[datum.column]",
    }
    corners = {"x": "datum.column - 0.5", "x2": "datum.column + 0.5", "y": "datum.row - 0.5", "y2": "datum.row + 0.5"}
    tooltip = [*map(nominal, names), field("value", format=precise, title=what)]
    encoding = {
        **axes, "x2": {"field": "x2"}, "y2": {"field": "y2"}, "color": field("value", **shades), "tooltip": tooltip
    }  # fmt: skip
    return [marks("rect", encoding, "cells", calculate(**named, **corners), **stroke)], {"cells": cells}


def _numbers(numbers: str | Sequence[str], theme: Theme, maximum: float) -> Spec:
    text = field("value", format=numbers) if isinstance(numbers, str) else nominal("label")
    ink = either(f"abs(datum.value) > {DARK_CELL * maximum}", theme.background, theme.ink)
    return marks("text", {"x": field("column"), "y": field("row"), "text": text, "color": ink}, "cells", fontSize=11)


def _image(matrix, rows, columns, axes, shades, theme, kind, maximum) -> tuple[list[Spec], dict[str, list]]:
    """Draw the matrix as an image, with a tooltip for each row."""
    known = np.nan_to_num(matrix)
    largest = [[j for j in row[:5] if np.isfinite(matrix[i, j])] for i, row in enumerate(np.argsort(-np.abs(known), 1))]
    frame = pd.DataFrame(
        {
            "row": range(len(rows)),
            "from": list(rows),
            "most": [", ".join(f"{columns[j]} {matrix[i, j]:.2f}" for j in js) for i, js in enumerate(largest)],
            "largest": np.abs(known).max(axis=1),
        }
    )
    tooltip = [field("row", title="position"), nominal("from"), nominal("most", title="attends most to")]
    encoding = {
        **_whole_width(len(columns)),
        "y": field("y"),
        "y2": {"field": "y2"},
        "color": field("largest", **shades),
        "tooltip": tooltip,
    }
    bands = marks("rect", encoding, "rows", calculate(y="datum.row - 0.5", y2="datum.row + 0.5"), opacity=0)
    corner = {"url": image_uri(matrix, theme, kind, maximum), "x": -0.5, "y": -0.5, "value": 0.0}
    return [backdrop(axes, "picture"), bands], {"picture": [corner], "rows": frame}


def image_uri(matrix: np.ndarray, theme: Theme, kind: str, maximum: float) -> str:
    """Return the matrix as a PNG in a data URI, with one pixel for each cell."""
    low = 0.0 if kind == "weights" else -maximum
    levels = (np.nan_to_num(np.asarray(matrix, float)) - low) / ((maximum - low) or 1.0)
    return picture(np.clip(levels, 0, 1) * 255, getattr(theme, kind))


def _whole_width(n: int) -> Spec:
    return {"x": {"datum": -0.5, "type": "quantitative"}, "x2": {"datum": n - 0.5}}
