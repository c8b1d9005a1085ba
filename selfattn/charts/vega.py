"""Frames to charts. Each function draws one picture and knows nothing of where its numbers came from.

The charts are Vega-Lite dicts: a page draws a dozen of them at every move of the slider, and building one with Altair
takes 20 to 100 ms. `selfattn.notebook` hands them out as Altair charts.

Heatmaps are keyed on position with the token as label, because words repeat. Up to RECT_TOKENS tokens every cell is a
mark of its own; above, the map is one image with a transparent band a row, which paints in the same time at any length.
"""

import base64
import io
import math
import unicodedata
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from PIL import Image

from selfattn.charts.theme import Theme, vega_config
from selfattn.charts.vega_words import expression

RECT_TOKENS = 64
LABELS = 45  # more token labels than this are thinned, evenly
CHIP_HEIGHT, CHIP_GAP, LINE = 24, 6, 50  # the strip's words, in pixels

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

Spec = dict[str, Any]  # Vega-Lite

alt.data_transformers.disable_max_rows()


def finish(chart: alt.TopLevelMixin | Spec, theme: Theme) -> Spec:
    """The chart as a Vega-Lite dict in this look. Unvalidated: Altair's validation holds a process-wide lock."""
    spec = chart if isinstance(chart, dict) else chart.to_dict(validate=False)
    return {
        "$schema": SCHEMA,
        **spec,
        "config": vega_config(theme),
        "autosize": {"type": "pad", "contains": "content"},
    }


def beside(*charts: alt.TopLevelMixin | Spec) -> Spec:
    """Charts side by side, as one."""
    return {"hconcat": [_part(chart) for chart in charts]}


def stacked(*charts: alt.TopLevelMixin | Spec) -> Spec:
    """Charts one above the other, as one; each keeps its own colours."""
    return {"vconcat": [_part(chart) for chart in charts], "resolve": {"scale": {"color": "independent"}}}


def _part(chart: alt.TopLevelMixin | Spec) -> Spec:
    """A chart that can stand inside another: its records stand where they are used, not at the top."""
    spec = chart if isinstance(chart, dict) else chart.to_dict(validate=False)
    datasets = spec.get("datasets", {})

    def inline(part: Any) -> Any:
        if isinstance(part, list):
            return [inline(one) for one in part]
        if not isinstance(part, dict):
            return part
        if part.get("name") in datasets and len(part) == 1:
            return {"values": datasets[part["name"]]}
        return {key: inline(value) for key, value in part.items()}

    kept = {key: value for key, value in spec.items() if key not in ("datasets", "$schema", "config")}
    return inline(kept)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A frame's rows as JSON takes them: plain numbers and texts, None where a number is not finite."""
    columns = [frame[name].tolist() for name in frame]
    for i, name in enumerate(frame):
        if frame[name].dtype.kind == "f":
            columns[i] = [value if math.isfinite(value) else None for value in columns[i]]
    return [dict(zip(frame.columns, row)) for row in zip(*columns)]


def _field(name: str, kind: str = "quantitative", **more: Any) -> Spec:
    return {"field": name, "type": kind, **more}


def scale(theme: Theme, kind: str, maximum: float) -> Spec:
    """The fixed colour scale of a kind of number: "weights" from 0, "signed" and "effect" centred on 0."""
    colors = list(getattr(theme, kind))
    low = 0.0 if kind == "weights" else -maximum
    domain = np.linspace(low, maximum or 1.0, len(colors)).tolist()
    return {"domain": domain, "range": colors, "clamp": True, "interpolate": "rgb"}


def strip(frame: pd.DataFrame, theme: Theme, width: int = 490) -> Spec:
    """Sentences as words, each shaded by the weight it gets (frames.strip_frame; several sentences may be stacked)."""
    placed = _place_words(frame, width - 30)
    maximum = float(frame["weight"].max()) or 1.0
    faint = placed["special"] & (placed["weight"] < 0.25 * maximum)
    placed["ink"] = np.where(faint, theme.muted, theme.ink)
    placed.loc[placed["weight"] > 0.5 * maximum, "ink"] = theme.background
    height = float(placed["y"].max()) + LINE - 8
    across = {"axis": None, "scale": {"domain": [0, width], "nice": False}}
    down = {"axis": None, "scale": {"domain": [0, height], "reverse": True}}
    tooltip = [_field("sentence", "nominal"), _field("text", "nominal", title="word"), _field("weight", format=".4f")]

    def chosen(value: Any, otherwise: Any) -> Spec:
        return {"condition": {"test": "datum.chosen", "value": value}, "value": otherwise}

    chips = {
        "data": {"name": "words"},
        "mark": {"type": "rect", "cornerRadius": 5},
        "encoding": {
            "x": _field("x", **across), "x2": {"field": "x2"}, "y": _field("y", **down), "y2": {"field": "y2"},
            # No legend: each word has its number beneath it.
            "color": _field("weight", scale=scale(theme, "weights", maximum), legend=None),
            "stroke": chosen(theme.ink, theme.grid),
            "strokeWidth": chosen(2.5, 1),
            "tooltip": tooltip,
        },
    }  # fmt: skip
    words = {
        "data": {"name": "words"},
        "mark": {"type": "text", "fontSize": 14, "baseline": "middle"},
        "encoding": {
            "x": _field("middle"), "y": _field("y_text"), "text": _field("text", "nominal"),
            "color": _field("ink", "nominal", scale=None), "tooltip": tooltip,
        },
    }  # fmt: skip
    numbers = {
        "data": {"name": "words"},
        "transform": [{"calculate": "datum.y2 + 2", "as": "y2"}],
        "mark": {"type": "text", "fontSize": 10, "baseline": "top", "color": theme.muted},
        "encoding": {
            "x": _field("middle"), "y": _field("y2"), "text": _field("weight", format=".2f"), "tooltip": tooltip
        },
    }  # fmt: skip
    names = {
        "data": {"name": "sentences"},
        "mark": {"type": "text", "fontSize": 16, "fontWeight": 700, "align": "left", "baseline": "middle"},
        "encoding": {
            "x": _field("x"), "y": _field("y_text"), "text": _field("sentence", "nominal"),
            "color": _sentence_color(theme),
        },
    }  # fmt: skip
    tags = placed.drop_duplicates("sentence").assign(x=4)[["sentence", "x", "y_text"]]
    return {
        "datasets": {"words": records(placed), "sentences": records(tags)},
        "layer": [chips, words, numbers, names],
        "width": width,
        "height": height,
        "resolve": {"scale": {"color": "independent"}},
    }


def head_map(
    frame: pd.DataFrame,
    measure: str,
    theme: Theme,
    chosen: str,
    *,
    kind: str = "effect",
    title: str = "effect of removing",
    pick: str = "pick",
    width: int = 490,
) -> Spec:
    """Layers x heads coloured by one measure; a click picks a head (the selection `pick`, fields layer and head)."""
    heads, layers = frame["head"].nunique(), frame["layer"].nunique()
    cell = min(32.0, (width - 110) / heads)
    height = min(22.0, cell) * layers
    maximum = float(frame[measure].abs().max()) or 1.0
    numbers = [column for column in frame.columns if column not in ("layer", "head", "name")]
    shared = {
        "x": _field("head", "ordinal", axis={"labelAngle": 0, "title": "head", "orient": "top"}),
        "y": _field("layer", "ordinal", axis={"title": "layer"}),
        "tooltip": [_field("name", "nominal", title="head"), *(_measure_tooltip(column) for column in numbers)],
        "description": _field("name", "nominal"),
    }
    legend = {
        "title": title,
        "orient": "right",
        "gradientLength": max(100, min(200, int(height))),
        "format": ".2f" if kind == "weights" else "+.2f",
        "tickCount": 5,
    }
    cells = {
        "name": "cells",
        "mark": {"type": "rect", "cornerRadius": 3, "stroke": theme.grid, "strokeWidth": 1, "cursor": "pointer"},
        "encoding": {**shared, "color": _field(measure, scale=scale(theme, kind, maximum), legend=legend)},
    }
    outline = {
        "transform": [{"filter": f"(datum.name === '{chosen}')"}],
        "mark": {"type": "rect", "cornerRadius": 3, "fillOpacity": 0, "stroke": theme.ink, "strokeWidth": 3},
        "encoding": shared,
    }
    select = {"type": "point", "fields": ["layer", "head"], "on": "click"}
    return {
        "datasets": {"heads": records(frame)},
        "data": {"name": "heads"},
        "layer": [cells, outline],
        "params": [{"name": pick, "select": select, "views": ["cells"]}],
        "width": cell * heads,
        "height": height,
    }


def _measure_tooltip(measure: str) -> Spec:
    signed = "effect" in measure or measure == "control"
    return _field(measure, format="+.4f" if signed else ".3f", title=measure.replace("_", " "))


def step_bars(
    frame: pd.DataFrame, theme: Theme, *, axis: str = "key_pos", format: str = ".4f", width: int = 118
) -> Spec:
    """One step of the kernel for a word's row: a small bar a token, sentence A above B, on one scale."""
    to_tokens = "key" in frame
    finite = frame["value"][np.isfinite(frame["value"])]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    y = {
        "title": None,
        "axis": {"tickCount": 2, "labelFontSize": 10, "format": ".2~r", "grid": True},
        "scale": {"domain": [min(low, 0.0), max(high, 0.0) or 1.0], "nice": False, "zero": True},
    }
    tooltip = [
        _field("sentence", "nominal"),
        _field(axis, title="position" if to_tokens else "dimension"),
        *([_field("key", "nominal", title="to")] if to_tokens else []),
        _field("value", format=format),
    ]
    bars = {
        "mark": {"type": "bar"},
        "encoding": {
            "x": _field(axis, "ordinal", axis=None),
            "y": _field("value", **y),
            "color": _sentence_color(theme),
            "tooltip": tooltip,
        },
        "width": width,
        "height": 62,
    }
    header = {"labelAngle": 0, "labelOrient": "left", "labelPadding": 4}
    return {
        "datasets": {"bars": records(frame)},
        "data": {"name": "bars"},
        "facet": {"row": _field("sentence", "nominal", title=None, header=header)},
        "spec": bars,
        "spacing": 8,
    }


def heatmap(
    matrix: np.ndarray,
    tokens: Sequence[str],
    theme: Theme,
    *,
    kind: str = "weights",
    maximum: float | None = None,
    marked: Sequence[int] = (),
    title: str = "",
    color: str | None = None,
    size: int = 400,
    legend: str = "weight",
) -> Spec:
    """One attention map (n, n): rows are queries, columns keys, `marked` rows outlined, one colour scale up to maximum."""
    n = len(tokens)
    maximum = float(np.nanmax(np.abs(matrix))) if maximum is None else maximum
    fill = _cells if n <= RECT_TOKENS else _image
    layers, datasets = fill(matrix, tokens, theme, kind, maximum, legend)
    if len(marked):
        datasets["marked"] = [{"low": min(marked) - 0.5, "high": max(marked) + 0.5}]
        layers.append(
            {
                "data": {"name": "marked"},
                "mark": {"type": "rect", "fillOpacity": 0, "stroke": theme.ink, "strokeWidth": 2},
                "encoding": {
                    "x": {"datum": -0.5, "type": "quantitative"},
                    "x2": {"datum": n - 0.5},
                    "y": _field("low"),
                    "y2": {"field": "high"},
                },
            }
        )
    side = size / n * n
    named = {"title": {"text": title, "color": color or theme.ink}} if title else {}
    return {"datasets": datasets, "layer": layers, "width": side, "height": side, **named}


def _cells(matrix, tokens, theme, kind, maximum, legend) -> tuple[list[Spec], dict[str, list]]:
    n = len(tokens)
    rows, columns = np.indices((n, n)).reshape(2, -1)
    frame = pd.DataFrame({"query_pos": rows, "key_pos": columns, "weight": np.asarray(matrix, float).ravel()})
    frame = frame[np.isfinite(frame["weight"])]
    spelled = expression(tokens)
    calculated = {
        "query": f"{spelled}[datum.query_pos]",
        "key": f"{spelled}[datum.key_pos]",
        "x": "datum.key_pos - 0.5",
        "x2": "datum.key_pos + 0.5",
        "y": "datum.query_pos - 0.5",
        "y2": "datum.query_pos + 0.5",
    }
    cells = {
        "data": {"name": "cells"},
        "transform": [{"calculate": said, "as": name} for name, said in calculated.items()],
        "mark": {"type": "rect", "stroke": theme.background, "strokeWidth": 0.5 if n <= 40 else 0},
        "encoding": {
            **token_axes(tokens),
            "x2": {"field": "x2"},
            "y2": {"field": "y2"},
            "color": _color(theme, kind, maximum, legend),
            "tooltip": [
                _field("query", "nominal", title="from"),
                _field("key", "nominal", title="to"),
                _field("weight", format=".4f" if kind == "weights" else "+.2e", title=legend),
            ],
        },
    }
    return [cells], {"cells": records(frame)}


def _image(matrix, tokens, theme, kind, maximum, legend) -> tuple[list[Spec], dict[str, list]]:
    """The map as one picture, with a transparent band a row that tells the row's five largest weights."""
    n = len(tokens)
    top = np.argsort(-np.abs(matrix), axis=1)[:, :5]
    frame = pd.DataFrame(
        {
            "query_pos": range(n),
            "query": list(tokens),
            "looks_at": [", ".join(f"{tokens[j]} {matrix[i, j]:.2f}" for j in row) for i, row in enumerate(top)],
            "largest": np.abs(matrix).max(axis=1),
        }
    )
    picture = {"url": image_uri(matrix, theme, kind, maximum), "x": -0.5, "y": -0.5, "weight": 0.0}
    image = {
        "data": {"name": "picture"},
        "mark": {
            "type": "image", "aspect": False, "align": "left", "baseline": "top",
            "width": {"expr": "width"}, "height": {"expr": "height"},
        },
        "encoding": {**token_axes(tokens), "url": _field("url", "nominal")},
    }  # fmt: skip
    calculated = {"y": "datum.query_pos - 0.5", "y2": "datum.query_pos + 0.5"}
    bands = {
        "data": {"name": "rows"},
        "transform": [{"calculate": said, "as": name} for name, said in calculated.items()],
        "mark": {"type": "rect", "opacity": 0},
        "encoding": {
            "x": {"datum": -0.5, "type": "quantitative"},
            "x2": {"datum": n - 0.5},
            "y": _field("y"),
            "y2": {"field": "y2"},
            "color": _color(theme, kind, maximum, legend, field="largest"),
            "tooltip": [
                _field("query_pos", title="position"),
                _field("query", "nominal", title="from"),
                _field("looks_at", "nominal", title="looks most at"),
            ],
        },
    }
    return [image, bands], {"picture": [picture], "rows": records(frame)}


def image_uri(matrix: np.ndarray, theme: Theme, kind: str, maximum: float) -> str:
    """A matrix as a palette PNG in a data URI, one pixel a cell, in the theme's colours."""
    low = 0.0 if kind == "weights" else -maximum
    levels = np.clip((np.asarray(matrix, float) - low) / ((maximum - low) or 1.0), 0, 1) * 255
    picture = Image.fromarray(np.nan_to_num(levels).astype(np.uint8), mode="P")
    picture.putpalette(palette(getattr(theme, kind)))
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG", optimize=False)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def palette(ramp: Sequence[str]) -> list[int]:
    """256 RGB colours, flat, interpolated linearly along a ramp of hex colours."""
    stops = np.array([[int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in ramp], float)
    places = np.linspace(0, len(ramp) - 1, 256)
    return (
        np.stack([np.interp(places, range(len(ramp)), stops[:, c]) for c in range(3)], 1)
        .round()
        .astype(int)
        .ravel()
        .tolist()
    )


def token_axes(tokens: Sequence[str]) -> dict[str, Spec]:
    """The x and y channels of a map of these tokens; where they are many, only every few are spelled."""
    n = len(tokens)
    every = -(-n // LABELS)
    labels = expression(token if i % every == 0 else "" for i, token in enumerate(tokens))
    axis = {
        "title": None,
        "values": list(range(0, n, every)),
        "labelExpr": f"{labels}[datum.value]",
        "grid": False,
        "labelLimit": 90,
        "labelOverlap": False,
        "labelFontSize": 12 if n <= 24 else 10,
    }
    domain = {"domain": [-0.5, n - 0.5], "nice": False, "zero": False}
    return {
        "x": _field("x", scale=domain, axis={"orient": "top", "labelAngle": -60, "minExtent": 54, **axis}),
        "y": _field("y", scale={**domain, "reverse": True}, axis={"minExtent": 60, **axis}),
    }


def _color(theme: Theme, kind: str, maximum: float, legend: str, field: str = "weight") -> Spec:
    number = ".2f" if kind == "weights" else "+.1e"
    shown = {"title": legend, "orient": "bottom", "gradientLength": 200, "tickCount": 4, "format": number}
    return _field(field, scale=scale(theme, kind, maximum), legend=shown if legend else None)


def _sentence_color(theme: Theme) -> Spec:
    hues = {"domain": ["A", "B"], "range": [theme.sentence_a, theme.sentence_b]}
    return _field("sentence", "nominal", scale=hues, legend=None)


def drift_curve(
    frame: pd.DataFrame, theme: Theme, colors: dict[str, str], dashed: Sequence[str] = (), width: int = 420
) -> Spec:
    """Similarity of word vectors over depth, a line a curve; the yardsticks are dashed (frames.drift_frame)."""
    stages = frame.drop_duplicates("depth")["stage"].tolist()
    names = list(colors)
    axis = {
        "values": list(range(len(stages))), "labelExpr": f"{expression(stages)}[datum.value]", "labelAngle": -40,
        "grid": False, "title": None, "labelOverlap": False,
    }  # fmt: skip
    hues = {"domain": names, "range": [colors[name] for name in names]}
    legend = {
        "title": None, "orient": "bottom", "columns": 1, "labelLimit": 480,
        "symbolType": "stroke", "symbolSize": 500, "symbolStrokeWidth": 2,
    }  # fmt: skip
    encoding = {
        "x": _field("depth", scale={"domain": [-0.15, len(stages) - 0.85], "nice": False}, axis=axis),
        "y": _field("similarity", title="cosine of the two vectors", scale={"zero": False, "nice": True}),
        "color": _field("curve", "nominal", scale=hues, legend=legend),
        "tooltip": [_field("curve", "nominal"), _field("stage", "nominal"), _field("similarity", format=".4f")],
    }
    dashes = {"domain": names, "range": [[5, 4] if name in dashed else [1, 0] for name in names]}
    return {
        "datasets": {"curves": records(frame)},
        "data": {"name": "curves"},
        "layer": [
            {
                "mark": {"type": "line"},
                "encoding": {**encoding, "strokeDash": _field("curve", "nominal", scale=dashes, legend=legend)},
            },
            {"mark": {"type": "point", "filled": True, "size": 50, "opacity": 1}, "encoding": encoding},
        ],
        "width": width,
        "height": 260,
    }


def _place_words(frame: pd.DataFrame, width: int) -> pd.DataFrame:
    """Lay the words out in lines of this width, each sentence on lines of its own. Adds x, x2, y, y2 and text places."""
    places, y = [], 8.0
    for _, words in frame.groupby("sentence", sort=False):
        x, y = 26.0, y if not places else y + LINE + 6
        for text in words["text"]:
            w = text_width(text) + 14
            if x + w > width + 26 and x > 26:
                x, y = 26.0, y + LINE
            places.append((x, x + w, y, y + CHIP_HEIGHT, x + w / 2, y + CHIP_HEIGHT / 2))
            x += w + CHIP_GAP
    columns = ["x", "x2", "y", "y2", "middle", "y_text"]
    return pd.concat([frame.reset_index(drop=True), pd.DataFrame(places, columns=columns)], axis=1)


def text_width(text: str) -> float:
    """About how many pixels a text takes at 14 px: wide characters count double, marks nothing."""
    return sum(
        0.0 if unicodedata.category(c).startswith("M") else 15.0 if unicodedata.east_asian_width(c) in "WF" else 7.4
        for c in text
    )
