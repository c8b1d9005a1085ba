"""Frames to Altair charts. Each function draws one picture and knows nothing of where its numbers came from.

Heatmaps are keyed on position with the token as label, because words repeat. Up to RECT_TOKENS tokens every cell is a
mark of its own; above, the map is one image with a transparent band a row, which paints in the same time at any length.
"""

import base64
import io
import unicodedata
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from PIL import Image

from selfattn.theme import Theme, vega_config
from selfattn.vega_words import expression

RECT_TOKENS = 64
LABELS = 45  # more token labels than this are thinned, evenly
CHIP_HEIGHT, CHIP_GAP, LINE = 24, 6, 50  # the strip's words, in pixels

alt.data_transformers.disable_max_rows()


def finish(chart: alt.TopLevelMixin, theme: Theme) -> dict[str, Any]:
    """The chart as a Vega-Lite dict in this look. Unvalidated: Altair's validation holds a process-wide lock."""
    spec = chart.to_dict(validate=False)
    spec["config"] = vega_config(theme)
    spec["autosize"] = {"type": "pad", "contains": "content"}
    return spec


def scale(theme: Theme, kind: str, maximum: float) -> alt.Scale:
    """The fixed colour scale of a kind of number: "weights" from 0, "signed" and "effect" centred on 0."""
    colors = list(getattr(theme, kind))
    low = 0.0 if kind == "weights" else -maximum
    return alt.Scale(
        domain=np.linspace(low, maximum or 1.0, len(colors)).tolist(), range=colors, clamp=True, interpolate="rgb"
    )


def strip(frame: pd.DataFrame, theme: Theme, width: int = 490) -> alt.LayerChart:
    """Sentences as words, each shaded by the weight it gets (frames.strip_frame; several sentences may be stacked)."""
    placed = _place_words(frame, width - 30)
    maximum = float(frame["weight"].max()) or 1.0
    base = alt.Chart(placed).encode(
        x=alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, width], nice=False)),
        y=alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[0, float(placed["y"].max()) + LINE - 8], reverse=True)),
        tooltip=[
            alt.Tooltip("sentence:N"),
            alt.Tooltip("text:N", title="word"),
            alt.Tooltip("weight:Q", format=".4f"),
        ],
    )
    chips = base.mark_rect(cornerRadius=5).encode(
        x2="x2:Q",
        y2="y2:Q",
        color=alt.Color(
            "weight:Q",
            scale=scale(theme, "weights", maximum),
            legend=None,  # each word has its number beneath it
        ),
        stroke=alt.condition("datum.chosen", alt.value(theme.ink), alt.value(theme.grid)),
        strokeWidth=alt.condition("datum.chosen", alt.value(2.5), alt.value(1)),
    )
    faint = placed["special"] & (placed["weight"] < 0.25 * maximum)
    placed["ink"] = np.where(faint, theme.muted, theme.ink)
    placed.loc[placed["weight"] > 0.5 * maximum, "ink"] = theme.background
    words = base.mark_text(fontSize=14, baseline="middle").encode(
        x="middle:Q", y="y_text:Q", text="text:N", color=alt.Color("ink:N", scale=None)
    )
    numbers = base.mark_text(fontSize=10, baseline="top", color=theme.muted).encode(
        x="middle:Q", y="y2:Q", text=alt.Text("weight:Q", format=".2f")
    )
    tags = placed.drop_duplicates("sentence").assign(x=4, middle=4)
    sentence = alt.Chart(tags).mark_text(fontSize=16, fontWeight=700, align="left", baseline="middle")
    sentence = sentence.encode(x="x:Q", y="y_text:Q", text="sentence:N", color=_sentence_color(theme, legend=False))
    height = float(placed["y"].max()) + LINE - 8
    return (
        alt.layer(chips, words, numbers.transform_calculate(y2="datum.y2 + 2"), sentence)
        .properties(width=width, height=height)
        .resolve_scale(color="independent")
    )


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
) -> alt.LayerChart:
    """Layers x heads coloured by one measure; a click picks a head (the selection `pick`, fields layer and head)."""
    heads, layers = frame["head"].nunique(), frame["layer"].nunique()
    cell = min(32.0, (width - 110) / heads)
    height = min(22.0, cell) * layers
    maximum = float(frame[measure].abs().max()) or 1.0
    numbers = [column for column in frame.columns if column not in ("layer", "head", "name")]
    base = alt.Chart(frame).encode(
        x=alt.X("head:O", axis=alt.Axis(labelAngle=0, title="head", orient="top")),
        y=alt.Y("layer:O", axis=alt.Axis(title="layer")),
        tooltip=[alt.Tooltip("name:N", title="head"), *(_measure_tooltip(column) for column in numbers)],
        description="name:N",
    )
    legend = alt.Legend(
        title=title,
        orient="right",
        gradientLength=max(100, min(200, int(height))),
        format=".2f" if kind == "weights" else "+.2f",
        tickCount=5,
    )
    cells = base.mark_rect(cornerRadius=3, stroke=theme.grid, strokeWidth=1, cursor="pointer").encode(
        color=alt.Color(f"{measure}:Q", scale=scale(theme, kind, maximum), legend=legend)
    )
    cells = cells.add_params(alt.selection_point(name=pick, fields=["layer", "head"], on="click", empty=False))
    outline = base.mark_rect(cornerRadius=3, fillOpacity=0, stroke=theme.ink, strokeWidth=3).transform_filter(
        alt.datum.name == chosen
    )
    return alt.layer(cells, outline).properties(width=cell * heads, height=height)


def _measure_tooltip(measure: str) -> alt.Tooltip:
    signed = "effect" in measure or measure == "control"
    return alt.Tooltip(f"{measure}:Q", format="+.4f" if signed else ".3f", title=measure.replace("_", " "))


def step_bars(
    frame: pd.DataFrame, theme: Theme, *, axis: str = "key_pos", format: str = ".4f", width: int = 118
) -> alt.LayerChart:
    """One step of the kernel for a word's row: a small bar a token, sentence A above B, on one scale."""
    label = "key" if "key" in frame else "dimension"
    low, high = float(frame["value"].min()), float(frame["value"].max())
    if not np.isfinite(low):
        frame = frame.assign(hidden=~np.isfinite(frame["value"]))
        finite = frame["value"][np.isfinite(frame["value"])]
        low, high = float(finite.min()), float(finite.max())
    base = alt.Chart(frame).encode(
        x=alt.X(f"{axis}:O", axis=None),
        y=alt.Y(
            "value:Q",
            title=None,
            axis=alt.Axis(tickCount=2, labelFontSize=10, format=".2~r", grid=True),
            scale=alt.Scale(domain=[min(low, 0.0), max(high, 0.0) or 1.0], nice=False, zero=True),
        ),
        color=_sentence_color(theme, legend=False),
        tooltip=[
            alt.Tooltip("sentence:N"),
            alt.Tooltip(f"{axis}:Q", title="position" if label == "key" else "dimension"),
            *([alt.Tooltip("key:N", title="to")] if label == "key" else []),
            alt.Tooltip("value:Q", format=format),
        ],
    )
    bars = base.mark_bar()
    return bars.properties(width=width, height=62).facet(
        row=alt.Row("sentence:N", title=None, header=alt.Header(labelAngle=0, labelOrient="left", labelPadding=4)),
        spacing=8,
    )


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
) -> alt.LayerChart:
    """One attention map (n, n): rows are queries, columns keys, `marked` rows outlined, one colour scale up to maximum."""
    n = len(tokens)
    maximum = float(np.nanmax(np.abs(matrix))) if maximum is None else maximum
    cell = size / n
    fill = _cells if n <= RECT_TOKENS else _image
    layers = [fill(matrix, tokens, theme, kind, maximum, legend)]
    if len(marked):
        rows = pd.DataFrame({"low": [min(marked) - 0.5], "high": [max(marked) + 0.5]})
        layers.append(
            alt.Chart(rows)
            .mark_rect(fillOpacity=0, stroke=theme.ink, strokeWidth=2)
            .encode(
                x=alt.X(datum=-0.5, type="quantitative"),
                x2=alt.X2(datum=n - 0.5),
                y=alt.Y("low:Q"),
                y2="high:Q",
            )
        )
    chart = alt.layer(*layers).properties(width=cell * n, height=cell * n)
    return chart.properties(title=alt.Title(title, color=color or theme.ink)) if title else chart


def _cells(matrix, tokens, theme, kind, maximum, legend) -> alt.Chart:
    n = len(tokens)
    rows, columns = np.indices((n, n)).reshape(2, -1)
    frame = pd.DataFrame({"query_pos": rows, "key_pos": columns, "weight": np.asarray(matrix, float).ravel()})
    frame = frame[np.isfinite(frame["weight"])]
    spelled = expression(tokens)
    return (
        alt.Chart(frame)
        .transform_calculate(
            query=f"{spelled}[datum.query_pos]",
            key=f"{spelled}[datum.key_pos]",
            x="datum.key_pos - 0.5",
            x2="datum.key_pos + 0.5",
            y="datum.query_pos - 0.5",
            y2="datum.query_pos + 0.5",
        )
        .mark_rect(stroke=theme.background, strokeWidth=0.5 if n <= 40 else 0)
        .encode(
            **token_axes(tokens),
            x2="x2:Q",
            y2="y2:Q",
            color=_color(theme, kind, maximum, legend),
            tooltip=[
                alt.Tooltip("query:N", title="from"),
                alt.Tooltip("key:N", title="to"),
                alt.Tooltip("weight:Q", format=".4f" if kind == "weights" else "+.2e", title=legend),
            ],
        )
    )


def _image(matrix, tokens, theme, kind, maximum, legend) -> alt.LayerChart:
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
    picture = pd.DataFrame(
        {"url": [image_uri(matrix, theme, kind, maximum)], "x": [-0.5], "y": [-0.5], "weight": [0.0]}
    )
    image = (
        alt.Chart(picture)
        .mark_image(aspect=False, align="left", baseline="top", width={"expr": "width"}, height={"expr": "height"})
        .encode(**token_axes(tokens), url="url:N")
    )
    bands = (
        alt.Chart(frame)
        .transform_calculate(y="datum.query_pos - 0.5", y2="datum.query_pos + 0.5")
        .mark_rect(opacity=0)
        .encode(
            x=alt.X(datum=-0.5, type="quantitative"),
            x2=alt.X2(datum=n - 0.5),
            y="y:Q",
            y2="y2:Q",
            color=_color(theme, kind, maximum, legend, field="largest"),
            tooltip=[
                alt.Tooltip("query_pos:Q", title="position"),
                alt.Tooltip("query:N", title="from"),
                alt.Tooltip("looks_at:N", title="looks most at"),
            ],
        )
    )
    return alt.layer(image, bands)


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


def token_axes(tokens: Sequence[str]) -> dict[str, Any]:
    """The x and y channels of a map of these tokens; where they are many, only every few are spelled."""
    n = len(tokens)
    every = -(-n // LABELS)
    labels = expression(token if i % every == 0 else "" for i, token in enumerate(tokens))
    axis: dict[str, Any] = {
        "values": list(range(0, n, every)),
        "labelExpr": f"{labels}[datum.value]",
        "grid": False,
        "labelLimit": 90,
        "labelOverlap": False,
        "labelFontSize": 12 if n <= 24 else 10,
    }
    domain = alt.Scale(domain=[-0.5, n - 0.5], nice=False, zero=False)
    return {
        "x": alt.X("x:Q", scale=domain, axis=alt.Axis(title=None, orient="top", labelAngle=-60, minExtent=54, **axis)),
        "y": alt.Y(
            "y:Q",
            scale=alt.Scale(domain=[-0.5, n - 0.5], nice=False, zero=False, reverse=True),
            axis=alt.Axis(title=None, minExtent=60, **axis),
        ),
    }


def _color(theme: Theme, kind: str, maximum: float, legend: str, field: str = "weight") -> alt.Color:
    shown = alt.Legend(
        title=legend, orient="bottom", gradientLength=200, tickCount=4, format=".2f" if kind == "weights" else "+.1e"
    )
    return alt.Color(f"{field}:Q", scale=scale(theme, kind, maximum), legend=shown if legend else None)


def _sentence_color(theme: Theme, legend: bool) -> alt.Color:
    return alt.Color(
        "sentence:N",
        scale=alt.Scale(domain=["A", "B"], range=[theme.sentence_a, theme.sentence_b]),
        legend=alt.Legend(title=None) if legend else None,
    )


def drift_curve(
    frame: pd.DataFrame, theme: Theme, colors: dict[str, str], dashed: Sequence[str] = (), width: int = 420
) -> alt.LayerChart:
    """Similarity of word vectors over depth, a line a curve; the yardsticks are dashed (frames.drift_frame)."""
    stages = frame.drop_duplicates("depth")["stage"].tolist()
    names = list(colors)
    base = alt.Chart(frame).encode(
        x=alt.X(
            "depth:Q",
            scale=alt.Scale(domain=[0, len(stages) - 1], nice=False),
            axis=alt.Axis(
                values=list(range(len(stages))),
                labelExpr=f"{expression(stages)}[datum.value]",
                labelAngle=-40,
                grid=False,
                title=None,
                labelOverlap=False,
            ),
        ),
        y=alt.Y("similarity:Q", title="cosine of the two vectors", scale=alt.Scale(zero=False, nice=True)),
        color=alt.Color(
            "curve:N",
            scale=alt.Scale(domain=names, range=[colors[name] for name in names]),
            legend=alt.Legend(title=None, orient="bottom", columns=1, labelLimit=480),
        ),
        tooltip=[
            alt.Tooltip("curve:N"),
            alt.Tooltip("stage:N"),
            alt.Tooltip("similarity:Q", format=".4f"),
        ],
    )
    return alt.layer(base.mark_line(), base.mark_point(filled=True, size=50, opacity=1)).properties(
        width=width, height=260
    )


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
