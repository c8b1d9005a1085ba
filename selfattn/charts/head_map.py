"""All heads at once: layers x heads coloured by one number, and the grid of all their maps.

The grid is one picture with one transparent rectangle per head, so it paints in the same time for texts of any length.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from selfattn.charts.theme import SWATCHES, Theme
from selfattn.charts.vega import (
    Spec,
    backdrop,
    calculate,
    field,
    layered,
    marks,
    nominal,
    picture,
    scale,
    see_through,
)
from selfattn.numbers import CHANGE, SHARE, TICKS, WEIGHT, fitting

PIXELS = 1_000_000  # most pixels of the composed picture
HOW = "how"  # the column that says which heads are exact
WIDTH = 490  # pixels of the page
GAP, STRIP = 4, 9  # around each head's map, in pixels of the page


def head_map(
    frame: pd.DataFrame,
    measure: str,
    theme: Theme,
    chosen: str,
    *,
    kind: str = "effect",
    title: str | list[str] = "effect of removing",
) -> Spec:
    """Draw layers x heads, coloured by one measure, with the chosen head outlined.

    frame: tidy_tables.heads_frame (layer, head, name, measures).
    """
    heads, layers = frame["head"].nunique(), frame["layer"].nunique()
    cell = min(36.0, (WIDTH - 40) / heads)
    height = min(22.0, cell) * layers
    maximum = float(frame[measure].abs().max()) or 1.0
    shared = {
        "x": field("head", "ordinal", axis={"labelAngle": 0, "title": "head", "orient": "top"}),
        "y": field("layer", "ordinal", axis={"title": "layer"}),
        "tooltip": [
            nominal("name", title="head"),
            *map(_measure_tooltip, _measures(frame)),
            *map(nominal, {HOW} & {*frame}),
        ],
        "description": nominal("name"),
    }
    legend = {
        "title": title,
        "orient": "bottom",
        **SWATCHES,
        "format": WEIGHT if kind == "weights" else fitting(maximum, SHARE if measure == "share" else CHANGE),
        "tickCount": TICKS,
    }
    shade = field(measure, scale=scale(theme, kind, maximum), legend=legend)
    look = {"cornerRadius": 3, "stroke": theme.grid, "strokeWidth": 1}
    drawn = [marks("rect", {**shared, "color": shade}, **look), _outline(shared, chosen, theme, cornerRadius=3)]
    return layered(drawn, {"heads": frame}, theme, cell * heads, height, data={"name": "heads"})


def _measures(frame: pd.DataFrame) -> list[str]:
    return [column for column in frame.columns if column not in ("layer", "head", "name", HOW)]


def _measure_tooltip(measure: str) -> Spec:
    signed = "effect" in measure or measure == "control"
    write = ".1%" if measure == "share" else "+.4f" if signed else ".3f"
    return field(measure, format=write, title=measure.replace("_", " "))


def _outline(encoding: Spec, chosen: str, theme: Theme, transform: Sequence[Spec] = (), **look) -> Spec:
    here = {"filter": {"field": "name", "equal": chosen}}
    return marks("rect", encoding, "", [*transform, here], fillOpacity=0, stroke=theme.ink, strokeWidth=3, **look)


def head_grid(
    maps: Sequence[np.ndarray],
    frame: pd.DataFrame,
    measure: str,
    theme: Theme,
    chosen: str,
    *,
    kind: str = "shares",
    columns: int,
) -> Spec:
    """Draw every map (n, n) small, in the order of frame's rows, with a strip below it in the colour of a measure.

    frame: layer, head, name and measures (tidy_tables.heads_frame).
    """
    cell = min(92.0, (WIDTH - 40) / columns - GAP)
    step_x, step_y = cell + GAP, cell + STRIP + GAP
    rows = -(-len(maps) // columns)
    wide, high = columns * step_x, rows * step_y
    places = frame.assign(
        x=[place % columns * step_x for place in range(len(frame))],
        y=[place // columns * step_y for place in range(len(frame))],
    )
    datasets = {
        "heads": places,
        "picture": [{"url": compose(maps, columns, cell, step_y, theme), "x": 0.0, "y": 0.0}],
    }
    downwards = {"domain": [0, high], "nice": False, "reverse": True}
    x, y = field("x", axis=None, scale={"domain": [0, wide], "nice": False}), field("y", axis=None, scale=downwards)
    edges = calculate(
        right=f"datum.x + {cell}", bottom=f"datum.y + {cell}", under=f"datum.y + {cell + 1}",
        end=f"datum.y + {cell + STRIP}",
    )  # fmt: skip
    to_right, to_end = {"x": x, "x2": {"field": "right"}}, {"y": y, "y2": {"field": "end"}}
    maximum = float(frame[measure].abs().max()) or 1.0
    bar = {
        "title": measure, "orient": "bottom", **SWATCHES, "tickCount": TICKS,
        "format": ".3~g" if kind == "shares" else fitting(maximum),
    }  # fmt: skip
    shade = field(f"['{measure}']", scale=scale(theme, kind, maximum), legend=bar)
    strip = {**to_right, "y": field("under", axis=None, scale=downwards), "y2": {"field": "end"}, "color": shade}
    numbers = [field(f"['{name}']", title=name, format=".3~f") for name in _measures(frame)]
    at = {"x": x, "y": y}
    heads, numbered = sorted(frame["head"].unique()), sorted(frame["layer"].unique())
    middle = cell / 2
    datasets["columns"] = [{"text": f"H{n}", "x": i * step_x + middle, "y": 0.0} for i, n in enumerate(heads)]
    datasets["rows"] = [{"text": f"L{n}", "x": 0.0, "y": i * step_y + middle} for i, n in enumerate(numbered)]
    text, look = {**at, "text": nominal("text")}, {"fontSize": 11, "color": theme.muted}
    names = [
        marks("text", text, "columns", dy=-4, baseline="bottom", **look),
        marks("text", text, "rows", align="right", dx=-6, **look),
    ]
    target = {**to_right, **to_end, "tooltip": [nominal("name", title="head"), *numbers]}
    frames = {**to_right, "y": y, "y2": {"field": "bottom"}}
    layers = [
        backdrop(at, "picture"),
        marks("rect", frames, "", edges, fillOpacity=0, stroke=theme.grid, strokeWidth=1),
        marks("rect", strip, "", edges, stroke=theme.grid, strokeWidth=0.5),
        _outline({**to_right, **to_end}, chosen, theme, edges, cornerRadius=2),
        *names,
        marks("rect", target, "", edges, opacity=0),
    ]
    own = {"axis": {"x": "independent", "y": "independent"}}
    return layered(layers, datasets, theme, wide, high, data={"name": "heads"}, resolve=own)


def thumbnail(weights: np.ndarray, pixels: int) -> np.ndarray:
    """Scale a map (n, n) to (pixels, pixels), 0 to 255, with 255 for its own largest weight.

    A map with more tokens than pixels keeps the largest weight of each block, so that no peak is lost.
    """
    n = len(weights)
    largest = float(weights.max()) or 1.0
    starts = np.arange(pixels) * n // pixels
    if n <= pixels:
        shrunk = weights[np.ix_(starts, starts)]
    else:
        shrunk = np.maximum.reduceat(np.maximum.reduceat(weights, starts, axis=0), starts, axis=1)
    return np.round(shrunk / largest * 255).astype(np.uint8)


def one_picture(maps: Iterable[np.ndarray], columns: int, side: int) -> str:
    """Compose all maps, in reading order, `side` pixels each without gaps, as a PNG in a data URI. Its opacity is the weight."""
    return see_through(_tiled(maps, columns, side))


def compose(maps: Sequence[np.ndarray], columns: int, cell: float, step_y: float, theme: Theme) -> str:
    """Compose all maps, in reading order, as one palette PNG in a data URI; cell and step_y in pixels of the page."""
    rows = len(maps) // columns
    zoom = min(2.0, (PIXELS / (columns * (cell + GAP) * rows * step_y)) ** 0.5)
    side, across, down = (max(4, round(length * zoom)) for length in (cell, cell + GAP, step_y))
    return picture(_tiled(maps, columns, side, down - side, across - side), theme.weights, optimize=True)


def _tiled(maps: Iterable[np.ndarray], columns: int, side: int, below: int = 0, beside: int = 0) -> np.ndarray:
    """Thumbnails in whole rows of `columns`. below, beside: blank pixels after each."""
    tiles = [np.pad(thumbnail(weights, side), ((0, below), (0, beside))) for weights in maps]
    return np.vstack([np.hstack(tiles[start : start + columns]) for start in range(0, len(tiles), columns)])
