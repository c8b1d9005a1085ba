"""Pictures of many heads at once: the grid of all maps, lines from one word, ranks, and the difference of two maps.

The grid is one picture with one transparent rectangle a head, so it paints in the same time at any length.
"""

import base64
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from PIL import Image

from selfattn.analysis.compare import SentenceComparison
from selfattn.charts import vega as charts
from selfattn.charts.theme import Theme
from selfattn.charts.vega_words import expression

PIXELS = 1_000_000  # of the composed picture, at most
GAP, STRIP, LABEL = 4, 6, 12  # around each head's map, in pixels of the page
# Safe for the colour-blind (Okabe and Ito), without the hues that mean sentence A and B.
HEAD_COLORS = ("#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#8c6d1f", "#7f7f7f")


def thumbnail(weights: np.ndarray, pixels: int) -> np.ndarray:
    """A map (n, n) as (pixels, pixels), 0 to 255, up to its own largest weight.

    A map with more tokens than pixels keeps the largest weight of each block, so that no peak is lost.
    """
    n = len(weights)
    largest = float(weights.max()) or 1.0
    if n <= pixels:
        places = np.arange(pixels) * n // pixels
        shrunk = weights[np.ix_(places, places)]
    else:
        starts = np.arange(pixels) * n // pixels
        shrunk = np.maximum.reduceat(np.maximum.reduceat(weights, starts, axis=0), starts, axis=1)
    return np.round(shrunk / largest * 255).astype(np.uint8)


def compose(maps: Sequence[np.ndarray], columns: int, cell: float, step_y: float, theme: Theme) -> str:
    """All maps in reading order as one palette PNG in a data URI; cell and step_y in pixels of the page."""
    rows = -(-len(maps) // columns)
    zoom = min(2.0, (PIXELS / (columns * (cell + GAP) * rows * step_y)) ** 0.5)
    side = max(4, round(cell * zoom))
    canvas = np.zeros((round(rows * step_y * zoom), round(columns * (cell + GAP) * zoom)), np.uint8)
    for place, weights in enumerate(maps):
        row, column = divmod(place, columns)
        top, left = round(row * step_y * zoom), round(column * (cell + GAP) * zoom)
        target = canvas[top : top + side, left : left + side]
        target[:] = thumbnail(weights, side)[: target.shape[0], : target.shape[1]]
    picture = Image.fromarray(canvas, mode="P")
    picture.putpalette(charts.palette(theme.weights))
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def head_grid(
    maps: Sequence[np.ndarray],
    frame: pd.DataFrame,
    measure: str,
    theme: Theme,
    chosen: str,
    *,
    kind: str = "weights",
    columns: int,
    named: bool = False,
    pick: str = "pick",
    width: int = 490,
    legend: str = "",
) -> alt.LayerChart:
    """Every map small, in the order of frame's rows, with a strip beneath in the colour of a measure.

    frame: layer, head, name and measures (frames.heads_frame). named writes each head's name above it (when sorted);
    otherwise layers and heads stand on the axes. A click picks a head (the selection `pick`, fields layer and head).
    """
    cell = min(92.0, (width - 40) / columns - GAP)
    top = LABEL if named else 0
    step_x, step_y = cell + GAP, cell + STRIP + GAP + top
    rows = -(-len(maps) // columns)
    wide, high = columns * step_x, rows * step_y
    places = frame.assign(
        x=[place % columns * step_x for place in range(len(frame))],
        y=[place // columns * step_y + top for place in range(len(frame))],
    )
    picture = pd.DataFrame({"url": [compose(maps, columns, cell, step_y, theme)], "x": [0.0], "y": [float(top)]})
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, wide], nice=False))
    downwards = alt.Scale(domain=[0, high], nice=False, reverse=True)
    y = alt.Y("y:Q", axis=None, scale=downwards)
    image = (
        alt.Chart(picture)
        .mark_image(aspect=False, align="left", baseline="top", width={"expr": "width"}, height={"expr": "height"})
        .encode(x=x, y=y, url="url:N")
    )
    numbers = [column for column in frame.columns if column not in ("layer", "head", "name")]
    base = alt.Chart(places).transform_calculate(
        right=f"datum.x + {cell}", bottom=f"datum.y + {cell}", under=f"datum.y + {cell + 1}",
        end=f"datum.y + {cell + STRIP}",
    )  # fmt: skip
    frames = base.mark_rect(fillOpacity=0, stroke=theme.grid, strokeWidth=1).encode(
        x=x, x2="right:Q", y=y, y2="bottom:Q"
    )
    low, high_ = float(frame[measure].min()), float(frame[measure].max())
    strips = base.mark_rect(stroke=theme.grid, strokeWidth=0.5).encode(
        x=x,
        x2="right:Q",
        y=alt.Y("under:Q", axis=None, scale=downwards),
        y2="end:Q",
        color=alt.Color(
            f"['{measure}']:Q",
            scale=alt.Scale(**charts.scale(theme, kind, max(abs(low), abs(high_)) or 1.0)),
            legend=alt.Legend(
                title=legend or measure, orient="bottom", gradientLength=200, tickCount=5,
                format=".3~g" if kind == "weights" else "+.2~g",
            ),
        ),
    )  # fmt: skip
    outline = base.transform_filter(alt.datum.name == chosen).mark_rect(
        fillOpacity=0, stroke=theme.ink, strokeWidth=3, cornerRadius=2
    )
    outline = outline.encode(x=x, x2="right:Q", y=y, y2="end:Q")
    targets = base.mark_rect(opacity=0, cursor="pointer").encode(
        x=x,
        x2="right:Q",
        y=y,
        y2="end:Q",
        tooltip=[
            alt.Tooltip("name:N", title="head"),
            *(alt.Tooltip(f"['{name}']:Q", title=name, format=".3~f") for name in numbers),
        ],
    )
    targets = targets.add_params(alt.selection_point(name=pick, fields=["layer", "head"], on="click", empty=False))
    labels = _names(places, theme, x, y) if named else _edges(frame, theme, step_x, step_y, cell, x, y)
    layers = [image, frames, strips, outline, *labels, targets]
    return alt.layer(*layers).properties(width=wide, height=high).resolve_axis(x="independent", y="independent")


def _names(places: pd.DataFrame, theme: Theme, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    return [
        alt.Chart(places[["x", "y", "name"]])
        .mark_text(align="left", baseline="bottom", dy=-1, fontSize=9, color=theme.muted)
        .encode(x=x, y=y, text="name:N")
    ]


def _edges(frame: pd.DataFrame, theme: Theme, step_x: float, step_y: float, cell: float, x, y) -> list[alt.Chart]:
    """Head numbers above the grid, layer numbers to its left."""
    heads = pd.DataFrame({"text": sorted(frame["head"].unique())})
    heads = heads.assign(x=[h * step_x + cell / 2 for h in range(len(heads))], y=0.0)
    layers = pd.DataFrame({"text": sorted(frame["layer"].unique())})
    layers = layers.assign(x=0.0, y=[row * step_y + cell / 2 for row in range(len(layers))])
    return [
        alt.Chart(heads).transform_calculate(said="'H' + datum.text")
        .mark_text(baseline="bottom", dy=-4, fontSize=11, color=theme.muted).encode(x=x, y=y, text="said:N"),
        alt.Chart(layers).transform_calculate(said="'L' + datum.text")
        .mark_text(align="right", dx=-6, fontSize=11, color=theme.muted).encode(x=x, y=y, text="said:N"),
    ]  # fmt: skip


def lines(
    frame: pd.DataFrame, word: str, theme: Theme, *, word_place: int, color: str, width: int = 480
) -> alt.LayerChart:
    """Several heads' rows for one word as lines to the words it looks at, thicker for more weight.

    frame: source (a head's name, or "average", "rollout"), place (of the word in the list), text, weight, chosen.
    """
    sources = list(dict.fromkeys(frame["source"]))
    texts = frame.drop_duplicates("place").sort_values("place")
    n = len(texts)
    height = max(140, (26 if n <= 16 else 20) * n)
    middle = word_place
    spread = {source: (k - (len(sources) - 1) / 2) * 0.16 for k, source in enumerate(sources)}
    ends = frame.assign(start=middle, at=frame["place"] + frame["source"].map(spread), x=120, x2=width - 130)
    downwards = alt.Scale(domain=[-0.7, n - 0.3], reverse=True, nice=False, zero=False)
    y = alt.Y("at:Q", axis=None, scale=downwards)
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, width], nice=False))
    drawn = (
        alt.Chart(ends[ends["weight"] >= 0.005])
        .mark_rule(opacity=0.75, strokeCap="butt")
        .encode(
            x=x,
            x2="x2:Q",
            y=alt.Y("start:Q", axis=None, scale=downwards),
            y2="at:Q",
            color=alt.Color(
                "source:N",
                scale=alt.Scale(domain=sources, range=list(HEAD_COLORS[: len(sources)])),
                legend=alt.Legend(title=None, orient="top", symbolType="stroke", symbolStrokeWidth=4, columns=4),
            ),
            strokeWidth=alt.StrokeWidth("weight:Q", scale=alt.Scale(domain=[0, 1], range=[0.4, 18]), legend=None),
            tooltip=[
                alt.Tooltip("source:N", title="head"),
                alt.Tooltip("text:N", title="to"),
                alt.Tooltip("weight:Q", format=".4f"),
            ],
        )
    )
    right = (
        alt.Chart(texts.assign(x=width - 120, at=texts["place"]))
        .mark_text(align="left", baseline="middle", fontSize=13)
        .encode(
            x=x, y=y, text="text:N",
            color=alt.condition("datum.chosen", alt.value(color), alt.value(theme.ink)),
        )
    )  # fmt: skip
    left = (
        alt.Chart(pd.DataFrame({"text": [word], "x": [112], "at": [middle]}))
        .mark_text(align="right", baseline="middle", fontSize=14, fontWeight=700, color=color)
        .encode(x=x, y=y, text="text:N")
    )
    return alt.layer(drawn, right, left).properties(width=width, height=height)


METHOD_SHAPES = ("circle", "square", "triangle-up")


def ranks(frame: pd.DataFrame, methods: Mapping[str, str], theme: Theme, *, width: int = 330) -> alt.LayerChart:
    """What each method puts first: a word a row, a mark a method at its rank, joined from the first to the last.

    frame: Attributions.frame; methods: method -> colour.
    """
    n = len(frame)
    spelled = expression(frame["word"])
    aside = dict(zip(methods, (-0.16, 0.0, 0.16)))  # equal ranks stay side by side
    rows = pd.concat(
        [
            pd.DataFrame({"i": range(n), "method": m, "rank": frame[f"{m} rank"], "value": frame[m]}).assign(
                at=lambda rows, m=m: rows["i"] + aside[m]
            )
            for m in methods
        ]
    )
    every = -(-n // charts.LABELS)
    y_scale = alt.Scale(domain=[-0.6, n - 0.4], reverse=True, nice=False, zero=False)
    axis = alt.Axis(
        values=list(range(0, n, every)), labelExpr=f"{spelled}[datum.value]", title=None, grid=False,
        labelLimit=110, labelOverlap=False, labelFontSize=13 if n < 30 else 10, minExtent=60,
    )  # fmt: skip
    y = alt.Y("i:Q", scale=y_scale, axis=axis)
    ranked = alt.Scale(domain=[0.5, n + 0.5], nice=False, zero=False)
    x = alt.X(
        "rank:Q",
        scale=ranked,
        axis=alt.Axis(title="rank (1: contributes most)", tickMinStep=1, tickCount=min(n, 10), orient="top"),
    )
    base = alt.Chart(rows)
    spans = (
        base.transform_aggregate(first="min(rank)", last="max(rank)", groupby=["i"])
        .mark_rule(color=theme.grid, strokeWidth=3)
        .encode(y=y, x=alt.X("first:Q", scale=ranked), x2="last:Q")
    )
    names = list(methods)
    marks = (
        base.transform_calculate(word=f"{spelled}[datum.i]")
        .mark_point(filled=True, size=80, opacity=0.9)
        .encode(
            x=x,
            y=alt.Y("at:Q", scale=y_scale, axis=axis),
            color=alt.Color("method:N", scale=alt.Scale(domain=names, range=list(methods.values())),
                            legend=alt.Legend(title=None, orient="bottom", columns=3)),
            shape=alt.Shape("method:N", scale=alt.Scale(domain=names, range=list(METHOD_SHAPES[: len(names)]))),
            tooltip=[
                alt.Tooltip("word:N"),
                alt.Tooltip("method:N"),
                alt.Tooltip("rank:Q"),
                alt.Tooltip("value:Q", format="+.4~f"),
            ],
        )
    )  # fmt: skip
    return alt.layer(spans, marks).properties(width=width, height=min(24, 900 / max(n, 1)) * max(n, 2))


def aligned_map(found: SentenceComparison, theme: Theme, *, title: str = "", size: int = 400) -> alt.LayerChart:
    """The signed difference of one head in two sentences; words without a match are grey bands, named in their colour."""
    n = len(found.labels)
    known = found.matrix[np.isfinite(found.matrix)]
    maximum = float(np.abs(known).max()) if known.size else 0.0
    maximum = maximum or 1e-12
    axes = charts.token_axes(found.labels)
    hues = json.dumps([{"A": theme.sentence_a, "B": theme.sentence_b}.get(side, theme.muted) for side in found.side])
    shown = expression(found.labels if n <= charts.LABELS else _thinned(found.labels))
    for channel in axes.values():
        channel["axis"]["labelExpr"] = f"{shown}[datum.value]"
        channel["axis"]["labelColor"] = {"expr": f"{hues}[datum.value]"}
    legend = alt.Legend(
        title="weight in A minus weight in B", orient="bottom", gradientLength=200, tickCount=5, format="+.2~f"
    )
    color = alt.Color("weight:Q", scale=alt.Scale(**charts.scale(theme, "signed", maximum)), legend=legend)
    drawn = _aligned_cells if n <= charts.RECT_TOKENS else _aligned_image
    layers = [drawn(found, theme, maximum, axes, color), *_gaps(found, theme)]
    row = pd.DataFrame({"low": [found.chosen - 0.5], "high": [found.chosen + 0.5]})
    layers.append(
        alt.Chart(row)
        .mark_rect(fillOpacity=0, stroke=theme.ink, strokeWidth=2)
        .encode(x=alt.XDatum(-0.5), x2=alt.X2Datum(n - 0.5), y="low:Q", y2="high:Q")
    )
    return alt.layer(*layers).properties(width=size, height=size, **({"title": title} if title else {}))


def _thinned(labels: Sequence[str]) -> list[str]:
    every = -(-len(labels) // charts.LABELS)
    return [label if i % every == 0 else "" for i, label in enumerate(labels)]


def _aligned_cells(found: SentenceComparison, theme: Theme, maximum: float, axes: dict[str, Any], color) -> alt.Chart:
    rows, columns = np.nonzero(np.isfinite(found.matrix))
    frame = pd.DataFrame({"i": rows, "j": columns, "weight": found.matrix[rows, columns].round(6)})
    spelled = expression(found.labels)
    return (
        alt.Chart(frame)
        .transform_calculate(
            query=f"{spelled}[datum.i]", key=f"{spelled}[datum.j]",
            x="datum.j - 0.5", x2="datum.j + 0.5", y="datum.i - 0.5", y2="datum.i + 0.5",
        )
        .mark_rect(stroke=theme.background, strokeWidth=0.5)
        .encode(
            **axes, x2="x2:Q", y2="y2:Q", color=color,
            tooltip=[
                alt.Tooltip("query:N", title="from"),
                alt.Tooltip("key:N", title="to"),
                alt.Tooltip("weight:Q", format="+.4f", title="A minus B"),
            ],
        )
    )  # fmt: skip


def _aligned_image(
    found: SentenceComparison, theme: Theme, maximum: float, axes: dict[str, Any], color
) -> alt.LayerChart:
    uri = charts.image_uri(np.nan_to_num(found.matrix), theme, "signed", maximum)
    picture = pd.DataFrame({"url": [uri], "x": [-0.5], "y": [-0.5], "weight": [0.0]})
    image = alt.Chart(picture).mark_image(
        aspect=False, align="left", baseline="top", width={"expr": "width"}, height={"expr": "height"}
    )
    # The picture has no colour of its own to make a legend from; an unseen point has.
    unseen = alt.Chart(picture).mark_point(opacity=0).encode(x="x:Q", y="y:Q", color=color)
    return alt.layer(image.encode(**axes, url="url:N"), unseen)


def _gaps(found: SentenceComparison, theme: Theme) -> list[alt.Chart]:
    """A band down and a band across for each word without a match."""
    n = len(found.labels)
    places = [i for i, side in enumerate(found.side) if side != "both"]
    if not places:
        return []
    frame = pd.DataFrame(
        {"i": places, "word": [found.labels[i] for i in places], "stands": [f"only in {found.side[i]}" for i in places]}
    )
    base = alt.Chart(frame).transform_calculate(low="datum.i - 0.5", high="datum.i + 0.5")
    bands = base.mark_rect(color=theme.grid, stroke=theme.background, strokeWidth=0.5)
    said = [alt.Tooltip("word:N"), alt.Tooltip("stands:N", title="stands")]
    return [
        bands.encode(x="low:Q", x2="high:Q", y=alt.YDatum(-0.5), y2=alt.Y2Datum(n - 0.5), tooltip=said),
        bands.encode(y="low:Q", y2="high:Q", x=alt.XDatum(-0.5), x2=alt.X2Datum(n - 0.5), tooltip=said),
    ]
