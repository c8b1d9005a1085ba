"""Pictures of single rows and vectors: a bar a token or a dimension, a coloured strip for long vectors.

Written as plain Vega-Lite dicts, because a page holds a dozen of them and building each with Altair takes 20 to 50 ms.
Data go out as bare indices and numbers of six digits, and the labels once, so that 512 tokens stay small.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from selfattn.charts.theme import Theme, vega_config
from selfattn.charts.vega_words import expression

LABELLED = 26  # more bars than this carry their labels in the tooltip only
WIDTH = 400

Spec = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """One row of numbers to draw."""

    name: str  # stands to its left: "A", "is" ...
    values: Sequence[float]
    labels: Sequence[str]  # as many as values
    color: str
    marked: int | None = None  # a place with an outline


def bars(rows: Sequence[Row], theme: Theme, *, what: str = "value", width: int = WIDTH, height: int = 62) -> Spec:
    """Rows one above the other on one scale, a bar a number; minus infinity is written where a bar would stand."""
    finite = [value for row in rows for value in row.values if math.isfinite(value)]
    low, high = min([0.0, *finite]), max([0.0, *finite])
    if low == high:
        high = 1.0
    return _finished([_bars(row, theme, what, width, height, (low, high)) for row in rows], theme)


def frame(rows: Sequence[Row], what: str = "value") -> pd.DataFrame:
    """The rows' numbers, a line each: row, place, label and what they are."""
    parts = [
        pd.DataFrame(
            {"row": row.name, "place": range(len(row.values)), "label": list(row.labels), what: list(row.values)}
        )
        for row in rows
    ]
    return pd.concat(parts, ignore_index=True)


def strip(rows: Sequence[Row], theme: Theme, *, width: int = WIDTH, height: int = 22) -> Spec:
    """Long vectors as coloured strips, one above the other, red below 0 and blue above, on one scale."""
    maximum = max((abs(float(value)) for row in rows for value in row.values), default=0.0) or 1.0
    colors = {"domain": np.linspace(-maximum, maximum, len(theme.signed)).tolist(), "range": list(theme.signed)}
    legend = {"title": None, "orient": "bottom", "gradientLength": 180, "tickCount": 3, "format": ".2~g"}
    drawn = [
        {
            "data": {"values": _values(row.values)},
            "transform": [{"calculate": "datum.i + 1", "as": "end"}],
            "mark": "rect",
            "encoding": {
                "x": {"field": "i", "type": "quantitative", "axis": None,
                      "scale": {"domain": [0, len(row.values)], "nice": False}},
                "x2": {"field": "end"},
                "color": {"field": "v", "type": "quantitative",
                          "scale": {**colors, "interpolate": "rgb", "clamp": True},
                          "legend": legend if row is rows[-1] else None},
                "tooltip": [_tip("i", "dimension"), _tip("v", "value", ".4~g")],
            },
            "width": width,
            "height": height,
            "title": _name(row, 28),
        }
        for row in rows
    ]  # fmt: skip
    return _finished(drawn, theme, resolve={"scale": {"color": "independent"}})


def _bars(row: Row, theme: Theme, what: str, width: int, height: int, domain: tuple[float, float]) -> Spec:
    n = len(row.values)
    spelled = expression(map(str, row.labels))
    axis = {
        "values": list(range(n)), "labelExpr": f"{spelled}[datum.value]", "labelAngle": -45, "labelLimit": 70,
        "grid": False, "labelOverlap": False, "labelFontSize": 11, "title": None,
    }  # fmt: skip
    x = {
        "field": "x", "type": "quantitative", "axis": axis if n <= LABELLED else None,
        "scale": {"domain": [-0.6, n - 0.4], "nice": False, "zero": False},
    }  # fmt: skip
    y = {
        "field": "v", "type": "quantitative", "title": None, "scale": {"domain": list(domain), "nice": False},
        "axis": {"tickCount": 3, "labelFontSize": 10, "format": ".3~g", "minExtent": 38, "maxExtent": 38},
    }  # fmt: skip
    drawn = {
        "data": {"values": _values(row.values)},
        "transform": [
            *_calculate(x="datum.i - 0.42", x2="datum.i + 0.42", zero="0"),
            *_calculate(label=f"{spelled}[datum.i]"),
        ],
        "mark": {"type": "rect", "color": row.color, "cornerRadius": 1},
        "encoding": {
            "x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "zero"},
            "tooltip": [_tip("i", "number"), {"field": "label", "type": "nominal"}, _tip("v", what, ".4~g")],
        },
    }  # fmt: skip
    layers = [drawn, *_hidden(row, theme, domain)]
    if row.marked is not None:
        layers.append(_outline(row.marked, theme))
    return {"layer": layers, "width": width, "height": height, "title": _name(row, 6)}


def _hidden(row: Row, theme: Theme, domain: tuple[float, float]) -> list[Spec]:
    """A pale band and the sign of minus infinity where a number is no number."""
    places = [i for i, value in enumerate(row.values) if not math.isfinite(value)]
    if not places:
        return []
    data = {"values": [{"i": i, "said": "minus infinity"} for i in places]}
    band = {
        "data": data,
        "transform": _calculate(x="datum.i - 0.5", x2="datum.i + 0.5"),
        "mark": {"type": "rect", "color": theme.grid, "opacity": 0.8},
        "encoding": {
            "x": {"field": "x", "type": "quantitative"},
            "x2": {"field": "x2"},
            "tooltip": [_tip("i", "number"), {"field": "said", "type": "nominal", "title": "value"}],
        },
    }
    sign = {
        "data": data,
        "mark": {"type": "text", "text": "−∞", "fontSize": 12, "color": theme.muted},
        "encoding": {"x": {"field": "i", "type": "quantitative"}, "y": {"datum": sum(domain) / 2}},
    }
    return [band, sign] if len(row.values) <= LABELLED else [band]


def _outline(place: int, theme: Theme) -> Spec:
    return {
        "data": {"values": [{"x": place - 0.5, "x2": place + 0.5}]},
        "mark": {"type": "rect", "fillOpacity": 0, "stroke": theme.ink, "strokeWidth": 1.5, "cornerRadius": 2},
        "encoding": {"x": {"field": "x", "type": "quantitative"}, "x2": {"field": "x2"}},
    }


def _values(values: Sequence[float]) -> list[dict[str, float]]:
    numbers = map(float, values)
    return [{"i": i, "v": float(f"{v:.6g}")} for i, v in enumerate(numbers) if math.isfinite(v)]


def _calculate(**fields: str) -> list[Spec]:
    return [{"calculate": expression, "as": name} for name, expression in fields.items()]


def _tip(field: str, title: str, format: str = "") -> Spec:
    return {"field": field, "type": "quantitative", "title": title, **({"format": format} if format else {})}


def _name(row: Row, offset: int) -> Spec:
    return {
        "text": row.name, "orient": "left", "angle": 0, "anchor": "middle", "color": row.color, "fontSize": 13,
        "offset": offset,
    }  # fmt: skip


def _finished(drawn: list[Spec], theme: Theme, **more: Any) -> Spec:
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "vconcat": drawn,
        "spacing": 6,
        "config": vega_config(theme),
        "autosize": {"type": "pad", "contains": "content"},
        **more,
    }
