"""Draw all heads of an encoder: one number for each head, or the attention map of each head."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from selfattn.charts.sheet import NONE, Sheet
from selfattn.charts.theme import SWATCHES, Theme
from selfattn.charts.vega import Spec, field, layered, marks, nominal, picture, scale, see_through
from selfattn.numbers import CHANGE, SHARE, TICKS, WEIGHT, fitting, plain

PIXELS = 1_000_000  # the most pixels that one_picture may have
HOW = "how"  # the column that says how each head's number was measured
WIDTH = 490  # pixels
GAP, STRIP = 4, 9  # pixels: between maps; of a bar and the space above it
LEFT, TOP = 30, 20  # pixels: the width of the layers' names; the height of the heads' names


def head_map(
    frame: pd.DataFrame,
    measure: str,
    theme: Theme,
    chosen: str,
    *,
    kind: str = "effect",
    title: str | list[str] = "effect of removing the head",
) -> Spec:
    """Draw a map of layers × heads, coloured by the column `measure`.

    frame: from tidy_tables.heads_frame. chosen: the name of the head to outline ("L0 H10").
    """
    heads, layers = frame["head"].nunique(), frame["layer"].nunique()
    cell = min(36.0, (WIDTH - 40) / heads)
    height = min(22.0, cell) * layers
    maximum = float(frame[measure].abs().fillna(0).max()) or 1.0
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
    look = {"cornerRadius": 3, "stroke": theme.grid, "strokeWidth": 1, "invalid": "show"}
    here = [{"filter": {"field": "name", "equal": chosen}}]
    outline = marks("rect", shared, "", here, fillOpacity=0, stroke=theme.ink, strokeWidth=3, cornerRadius=3)
    drawn = [marks("rect", {**shared, "color": shade}, **look), outline]
    return layered(drawn, {"heads": frame}, theme, cell * heads, height, data={"name": "heads"})


def _measures(frame: pd.DataFrame) -> list[str]:
    return [column for column in frame.columns if column not in ("layer", "head", "name", HOW)]


def _measure_tooltip(measure: str) -> Spec:
    signed = "effect" in measure or measure == "control"
    write = ".1%" if measure == "share" else "+.4f" if signed else ".3f"
    return field(measure, format=write, title=measure.replace("_", " "))


def head_grid(
    maps: Iterable[np.ndarray], frame: pd.DataFrame, measure: str, theme: Theme, chosen: str, title: str
) -> Spec:
    """Draw each head's attention map (n, n), and below it a bar for the head's value in the column `measure`.

    frame: from tidy_tables.heads_frame, in the order of the maps.
    """
    columns = frame["head"].nunique()
    cell = min(92.0, (WIDTH - LEFT) / columns - GAP)
    sheet, largest, y = Sheet(theme), float(frame[measure].abs().max()) or 1.0, 0.0
    for at, (row, weights) in enumerate(zip(frame.to_dict("records"), maps)):
        x, y = LEFT + at % columns * (cell + GAP), TOP + at // columns * (cell + STRIP + GAP)
        if at < columns:
            sheet.text(x + cell / 2, TOP - 6, f"H{row['head']}", 11, theme.muted, align="center")
        if at % columns == 0:
            sheet.text(LEFT - 6, y + cell / 2 + 4, f"L{row['layer']}", 11, theme.muted, align="right")
        frame_of = {"stroke": theme.ink, "line": 3} if row["name"] == chosen else {"stroke": theme.grid, "line": 1}
        sheet.rect(x - 1, y - 1, x + cell + 1, y + cell + 1, NONE, **frame_of)
        small = thumbnail(weights, min(len(weights), round(2 * cell)))
        sheet.image(x, y, cell, cell, picture(small, theme.weights))
        end, color = x + cell * abs(row[measure]) / largest, theme.effect[3 if row[measure] >= 0 else 1]
        sheet.rect(x, y + cell + 3, end, y + cell + STRIP, color, **row)
    y += cell + STRIP + 20
    sheet.text(LEFT, y, f"Bar below each map: {title}. A full bar is {plain(largest)}.", 12, theme.muted)
    return sheet.drawn(WIDTH, y + 6)


def thumbnail(weights: np.ndarray, pixels: int) -> np.ndarray:
    """Scale a map (n, n) to (pixels, pixels), with 255 for the largest weight."""
    n = len(weights)
    largest = float(weights.max()) or 1.0
    starts = np.arange(pixels) * n // pixels
    if n <= pixels:
        shrunk = weights[np.ix_(starts, starts)]
    else:
        shrunk = np.maximum.reduceat(np.maximum.reduceat(weights, starts, axis=0), starts, axis=1)
    return np.round(shrunk / largest * 255).astype(np.uint8)


def one_picture(maps: Iterable[np.ndarray], columns: int, side: int) -> str:
    """Return one PNG of all maps, each `side` pixels wide, in a data URI."""
    tiles = [thumbnail(weights, side) for weights in maps]
    rows = [np.hstack(tiles[start : start + columns]) for start in range(0, len(tiles), columns)]
    return see_through(np.vstack(rows))
