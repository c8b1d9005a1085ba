"""The lessons' frames as Altair charts: plain functions, frame and theme in, chart out.

Heatmaps are keyed on position with the token as label, because words repeat. Colours mean what `selfattn.charts.theme` says.
"""

import math
from collections.abc import Sequence

import altair as alt
import pandas as pd
from torch import Tensor

from selfattn.charts.theme import Theme, vega_config
from selfattn.charts.vega_words import expression

BAR_STEP = 30
PLANE = 320  # pixels of a square plane
CELL = 34


def bars(
    frame: pd.DataFrame,
    value: str,
    theme: Theme,
    label: str = "token",
    number: str = ".2f",
    domain: tuple[float, float] | None = None,
    width: int = 240,
) -> alt.Chart:
    """One horizontal bar a row, in the frame's order, with its number at the end; the largest in deep blue."""
    data = frame[[label, value]].assign(place=range(len(frame)), largest=frame[value] == frame[value].max())
    low, high = domain or _roomy(frame[value])
    base = alt.Chart(data, width=width, height=BAR_STEP * len(frame)).encode(
        y=alt.Y("place:O", title=None, axis=_labels(frame[label]))
    )
    bar = base.mark_bar(height=16, cornerRadiusEnd=2).encode(
        x=alt.X(f"{value}:Q", title=None, scale=alt.Scale(domain=[low, high], nice=False), axis=None),
        color=alt.condition("datum.largest", alt.value(theme.weights[4]), alt.value(theme.weights[2])),
        tooltip=[alt.Tooltip(f"{label}:N"), alt.Tooltip(f"{value}:Q", format=number)],
    )
    text = base.mark_text(align="left", dx=5, color=theme.ink).encode(
        x=alt.X(f"{value}:Q"), text=alt.Text(f"{value}:Q", format=number)
    )
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(color=theme.muted).encode(x="zero:Q")
    return _styled(bar + zero + text, theme)


def heatmap(
    matrix: Tensor,
    rows: Sequence[str],
    columns: Sequence[str],
    theme: Theme,
    signed: bool = False,
    numbers: bool = True,
    highest: float | None = None,
    names: tuple[str, str] = ("from", "to"),
    cell: int | tuple[int, int] = CELL,
    number: str = ".2f",
    effect: bool = False,
    labels: Sequence[str] | None = None,
) -> alt.Chart:
    """A matrix (n, m) as cells: weights from background to deep blue, or signed values around the background.

    effect: signed, in the colours of removing a head. labels: n x m texts to print instead of the numbers.
    """
    data = pd.DataFrame(
        [
            (row, column, str(rows[row]), str(columns[column]), float(matrix[row, column]))
            for row in range(len(rows))
            for column in range(len(columns))
        ],
        columns=["row", "column", *names, "value"],
    )
    top = highest or max(float(matrix.abs().max()), 1e-9)
    ramp = theme.effect if effect else theme.signed if signed else theme.weights
    low = -top if signed or effect else 0.0
    across, down = cell if isinstance(cell, tuple) else (cell, cell)
    data["label"] = list(labels) if labels else [format(value, number) for value in data["value"]]
    base = alt.Chart(data, width=across * len(columns), height=down * len(rows)).encode(
        x=alt.X("column:O", title=f"{names[1]} →", axis=_labels(columns, orient="top", angle=-45)),
        y=alt.Y("row:O", title=f"{names[0]}", axis=_labels(rows)),
    )
    cells = base.mark_rect(stroke=theme.grid, strokeWidth=0.5).encode(
        color=alt.Color("value:Q", scale=_colours(ramp, low, top), legend=_ramp(number)),
        tooltip=[
            *(f"{name}:N" for name in names),
            *(["label:N"] if labels else []),
            alt.Tooltip("value:Q", format=number),
        ],
    )
    if not numbers:
        return _styled(cells, theme)
    # The source's rule: light numbers above 60 per cent of the maximum. In the dark look the ramp runs the other way.
    dark_cell = f"abs(datum.value) > {0.6 * top}"
    text = base.mark_text(fontSize=11).encode(
        text="label:N",
        color=alt.condition(dark_cell, alt.value(theme.background), alt.value(theme.ink)),
    )
    return _styled(cells + text, theme)


def arrows(frame: pd.DataFrame, theme: Theme, thickness: str, strong: str, size: int = PLANE) -> alt.Chart:
    """Arrows from the origin to (x, y), as thick as the column `thickness` says; rows of kind `strong` in ink."""
    widths = _thickness(frame[thickness])
    data = frame.assign(
        x0=0.0,
        y0=0.0,
        width=widths,
        turn=[math.degrees(math.atan2(x, y)) for x, y in zip(frame["x"], frame["y"])],
        strong=frame["kind"] == strong,
        label=_shared_tips(frame),
    ).sort_values("strong")  # drawn last, the strong arrow stays in sight on top of one that it equals
    domain = _square(frame)
    x = alt.X("x0:Q", title=None, scale=alt.Scale(domain=domain, nice=False), axis=alt.Axis(tickCount=5))
    y = alt.Y("y0:Q", title=None, scale=alt.Scale(domain=domain, nice=False), axis=alt.Axis(tickCount=5))
    colour = alt.condition("datum.strong", alt.value(theme.ink), alt.value(theme.weights[3]))
    base = alt.Chart(data, width=size, height=size)
    shaft = base.mark_rule(opacity=0.9).encode(
        x=x, y=y, x2="x:Q", y2="y:Q", color=colour, strokeWidth=alt.StrokeWidth("width:Q", scale=None, legend=None)
    )
    # An arrowhead of the size of its shaft; a zero vector has no direction and gets a dot.
    head = base.mark_point(shape="triangle", filled=True, opacity=1, size=110).encode(
        x=alt.X("x:Q"), y=alt.Y("y:Q"), color=colour, angle=alt.Angle("turn:Q", scale=None)
    )
    labels = [_tip_label(base, theme, strong=False), _tip_label(base, theme, strong=True)]
    hover = base.mark_point(size=400, opacity=0).encode(
        x="x:Q", y="y:Q", tooltip=["label:N", "x:Q", "y:Q", alt.Tooltip(f"{thickness}:Q", format=".2f")]
    )
    return _styled(alt.layer(shaft, head, *labels, hover), theme)


def lines(
    frame: pd.DataFrame,
    x: str,
    y: str,
    theme: Theme,
    series: str | None = None,
    log: str = "",
    titles: tuple[str, str] | None = None,
    domain: tuple[float, float] | None = None,
    size: tuple[int, int] = (320, 220),
) -> alt.Chart:
    """One line a series, points on it. log: "x", "y" or "xy" for logarithmic axes. domain: of y."""
    base2 = {"type": "log", "base": 2} if "x" in log else {"nice": False, "zero": False}
    y_scale = {"type": "log"} if "y" in log else {"zero": True}
    if domain:
        y_scale["domain"] = list(domain)
    names = list(dict.fromkeys(frame[series])) if series else []
    encoding = {
        "x": alt.X(f"{x}:Q", title=(titles or (x, y))[0], scale=alt.Scale(**base2), axis=alt.Axis(tickCount=6)),
        "y": alt.Y(
            f"{y}:Q", title=(titles or (x, y))[1], scale=alt.Scale(**y_scale), axis=_ticks(frame[y], "y" in log)
        ),
        "tooltip": [*([f"{series}:N"] if series else []), f"{x}:Q", alt.Tooltip(f"{y}:Q", format=".4g")],
    }
    if series:
        legend = alt.Legend(title=None, orient="top", symbolType="stroke")
        colours = [theme.weights[4], theme.muted, theme.ink, theme.weights[2]][: len(names)]
        encoding["color"] = alt.Color(f"{series}:N", scale=alt.Scale(domain=names, range=colours), legend=legend)
        dashes = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2]][: len(names)]
        encoding["strokeDash"] = alt.StrokeDash(
            f"{series}:N", scale=alt.Scale(domain=names, range=dashes), legend=legend
        )
    line = alt.Chart(frame, width=size[0], height=size[1]).mark_line(
        point=alt.OverlayMarkDef(size=36, filled=True), **({} if series else {"color": theme.weights[4]})
    )
    return _styled(line.encode(**encoding), theme)


def at_value(
    chart_frame: pd.DataFrame, x: str, y: str, here: float, theme: Theme, titles: tuple[str, str]
) -> alt.Chart:
    """A curve with a dot where the visitor stands, and a line at zero."""
    curve = (
        alt.Chart(chart_frame, width=320, height=PLANE)
        .mark_line(color=theme.weights[3])
        .encode(
            x=alt.X(
                f"{x}:Q", title=titles[0], scale=alt.Scale(nice=False), axis=alt.Axis(values=[0, 45, 90, 135, 180])
            ),
            y=alt.Y(f"{y}:Q", title=titles[1]),
        )
    )
    nearest = chart_frame.iloc[[(chart_frame[x] - here).abs().argmin()]]
    dot = alt.Chart(nearest).mark_point(size=140, filled=True, opacity=1, color=theme.ink)
    dot = dot.encode(x=f"{x}:Q", y=f"{y}:Q", tooltip=[f"{x}:Q", alt.Tooltip(f"{y}:Q", format=".2f")])
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(color=theme.muted).encode(y="zero:Q")
    return _styled(zero + curve + dot, theme)


def moves(
    frame: pd.DataFrame, theme: Theme, within: Tensor | None = None, size: tuple[int, int] = (450, 360)
) -> alt.Chart:
    """Arrows from (x0, y0) to (x, y) with a label at the tip: columns x0, y0, x, y, label, colour, detail.

    within: points (n, 2) that the axes must hold, so that they stay put while a slider moves the arrows.
    """
    data = frame.assign(
        turn=[math.degrees(math.atan2(dx, dy)) for dx, dy in zip(frame.x - frame.x0, frame.y - frame.y0)]
    )
    scales = [_held(axis) for axis in (within.T if within is not None else (None, None))]
    base = alt.Chart(data, width=size[0], height=size[1])
    x = alt.X("x0:Q", title=None, scale=scales[0], axis=None)
    y = alt.Y("y0:Q", title=None, scale=scales[1], axis=None)
    colour = alt.Color("colour:N", scale=None, legend=None)
    shaft = base.mark_rule(opacity=0.55, strokeWidth=1.5).encode(x=x, y=y, x2="x:Q", y2="y:Q", color=colour)
    head = base.mark_point(shape="triangle", size=110, filled=True, opacity=1)
    head = head.encode(x="x:Q", y="y:Q", color=colour, angle=alt.Angle("turn:Q", scale=None), tooltip="detail:N")
    label = base.mark_text(align="left", dx=10, dy=-6, fontWeight=600)
    label = label.encode(x="x:Q", y="y:Q", text="label:N", color=colour, tooltip="detail:N")
    start = base.mark_point(shape="circle", size=90, filled=True, opacity=1, color=theme.ink).encode(x=x, y=y)
    return _styled(shaft + start + head + label, theme)


def _styled(chart: alt.TopLevelMixin, theme: Theme) -> alt.Chart:
    # "pad" keeps the given width and height for the plot itself, so that cells stay square; axes go around it.
    return chart.configure(**vega_config(theme)).properties(autosize=alt.AutoSizeParams(type="pad", contains="content"))


def _labels(tokens: Sequence[str], orient: str = "left", angle: int = 0) -> alt.Axis:
    # The label is looked up by position, so repeated and odd-looking tokens stay what they are.
    names = expression(str(token) for token in tokens)
    return alt.Axis(
        labelExpr=f"{names}[datum.value]", orient=orient, labelAngle=angle, labelLimit=160, labelPadding=6, grid=False
    )


def _held(axis: Tensor | None) -> alt.Scale:
    """A scale that holds these values, with room for labels at its ends."""
    domain = {} if axis is None else {"domain": [float(axis.min()), float(axis.max())]}
    return alt.Scale(nice=False, zero=False, padding=36, **domain)


def _colours(ramp: Sequence[str], low: float, high: float) -> alt.Scale:
    """One stop a colour. Between them Vega would go through hues (white to blue by way of cyan); RGB goes straight."""
    stops = [low + (high - low) * place / (len(ramp) - 1) for place in range(len(ramp))]
    return alt.Scale(domain=stops, range=list(ramp), interpolate="rgb", clamp=True)


def _ramp(number: str) -> alt.Legend:
    # Beneath the cells: beside them it would push a wide map out of a narrow window.
    return alt.Legend(title=None, orient="bottom", gradientLength=120, gradientThickness=8, format=number, tickCount=3)


def _ticks(values: pd.Series, log: bool) -> alt.Axis:
    """Five ticks, or on a logarithmic axis one at each power of ten in sight (Vega would rule all nine between)."""
    if not log:
        return alt.Axis(tickCount=5)
    low, high = (math.log10(bound) for bound in (values.min(), values.max()))
    return alt.Axis(
        values=[10.0**power for power in range(math.floor(low), math.ceil(high) + 1)],
        format="~s" if values.max() >= 1e4 else "~g",
    )


def _roomy(values: pd.Series) -> tuple[float, float]:
    """A domain that holds zero, every bar, and the number at its end."""
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    room = 0.25 * ((high - low) or 1.0)
    return (low - room if low < 0 else 0.0), high + room


def _square(frame: pd.DataFrame) -> list[float]:
    """One domain for both axes, with the origin inside, so that angles look like angles."""
    values = [0.0, *frame["x"], *frame["y"]]
    room = 0.18 * ((max(values) - min(values)) or 1.0)
    return [min(values) - room if min(values) < 0 else -0.5 * room, max(values) + room]


def _tip_label(base: alt.Chart, theme: Theme, strong: bool) -> alt.LayerChart:
    """Names at the tips, above them or, for the strong arrow, below, so that neighbours stay apart; in a pale halo."""
    chosen = base.transform_filter(f"datum.strong === {str(strong).lower()}")
    text = chosen.mark_text(align="left", dx=9, dy=15 if strong else -9, fontWeight=600)
    halo = text.encode(x="x:Q", y="y:Q", text="label:N", stroke=alt.value(theme.background), strokeWidth=alt.value(4))
    return halo + text.encode(
        x="x:Q", y="y:Q", text="label:N", color=alt.value(theme.ink if strong else theme.weights[3])
    )


def _shared_tips(frame: pd.DataFrame) -> list[str]:
    """The labels; arrows that end at one point share one label, so that none is printed over another."""
    tips = list(zip(frame["x"], frame["y"]))
    joined = [", ".join(label for other, label in zip(tips, frame["label"]) if other == tip) for tip in tips]
    return [label if tips.index(tip) == place else "" for place, (tip, label) in enumerate(zip(tips, joined))]


def _thickness(values: pd.Series) -> list[float]:
    largest = values.abs().max()
    return [2.0 if pd.isna(value) else 1.0 + 6.0 * abs(value) / (largest or 1.0) for value in values]
