"""Draw dots with 95 % intervals on one scale."""

from collections.abc import Iterable, Sequence

import pandas as pd

from selfattn.charts.labels import label_axis
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, calculate, either, field, fluid, hues, layered, marks, nominal, span
from selfattn.numbers import SHARE

ROW, BESIDE = 24, 13  # pixels: the height of a row with one dot; what each further dot adds
LABEL, NUMBER = 170, 44  # pixels: the width of a label; of a number
WIDTH = 760  # pixels, the default


def dots(
    frame: pd.DataFrame,
    theme: Theme,
    guess: tuple[str, float] | None = None,
    *,
    domain: tuple[float, float] = (0.0, 1.0),
    marked: Sequence[str] = (),
    width: int | None = None,
) -> Spec:
    """Draw each row as a dot with its interval and its number.

    frame: columns group (the heading above a row), label, series, value, low, high. Without an interval, low and high are NaN.
    `value`, `low` and `high` are shares: 1 is drawn as 100 %.
    guess: name and value of a dashed line. marked: the labels whose dots are teal.
    width: pixels (None: the container's width).
    """
    lines = _lines(frame)
    place = {line: n for n, line in enumerate(lines)}
    series = frame["series"].unique().tolist()
    row = ROW + BESIDE * (len(series) - 1)
    turn = {name: (n - (len(series) - 1) / 2) * BESIDE / row for n, name in enumerate(series)}
    at = [place[group, label] + turn[name] for group, label, name in _keys(frame)]
    headings = [n for n, (_, label) in enumerate(lines) if label is None]
    axis = label_axis(
        [str(group if label is None else label) for group, label in lines],
        labelColor=either(f"indexof({headings}, datum.value) >= 0", theme.muted, theme.ink), labelLimit=LABEL,
        labelPadding=6,
    )  # fmt: skip
    low, high = domain
    y = {"y": field("at", axis=axis, scale=span(-0.7, len(lines) - 0.4, reverse=True))}
    x_axis = {"title": None, "format": SHARE, "tickCount": 5, "labelOverlap": True}
    x = field("value", scale=span(low, high), axis=x_axis)
    if len(series) > 1:
        shades = dict(zip(series, (theme.effect[-1], theme.muted, theme.sentence_b)))
        legend = {"title": None, "orient": "top", "symbolType": "circle", "direction": "vertical", "labelLimit": 0}
        color = nominal("series", scale=hues(shades), legend=legend)
    else:
        color = either(f"indexof({[*marked]}, datum.label) >= 0", theme.effect[-1], theme.muted)
    tooltip = [nominal("label", title=" "), *(field(name, format=".1%") for name in ("value", "low", "high"))]
    beyond = calculate(end="isValid(datum.high) ? max(datum.value, datum.high) : datum.value")
    number = {**y, "x": field("end"), "text": field("value", format=SHARE), "tooltip": tooltip}
    layers = [
        marks("rule", {**y, "x": field("low"), "x2": {"field": "high"}, "color": color}, strokeWidth=2),
        marks("point", {**y, "x": x, "color": color, "tooltip": tooltip}, filled=True, size=55, opacity=1),
        marks("text", number, "", beyond, align="left", dx=7, color=theme.ink),
    ]
    datasets: dict = {"dots": frame.assign(at=at)}
    if guess:
        named = {"x": field("guess"), "y": {"value": 10}, "text": nominal("name")}
        layers[:0] = [
            marks("rule", {"x": field("guess")}, "guess", strokeDash=[4, 3], color=theme.muted),
            marks("text", named, "guess", align="left", dx=5, fontSize=11, color=theme.muted),
        ]
        datasets["guess"] = [dict(zip(("name", "guess"), guess))]
    height = row * len(lines)
    padding = {"left": 0, "right": NUMBER, "top": 5, "bottom": 5}
    return fluid(layered(layers, datasets, theme, WIDTH, height, data={"name": "dots"}, padding=padding), width)


def dot_rows(
    labels: Iterable[str], frame: pd.DataFrame, value: str, *, group: str | Sequence[str] = "", series: str = ""
) -> pd.DataFrame:
    """Return rows for `dots`. frame: has the column that `value` names and, for intervals, the columns low and high."""
    rows = pd.DataFrame({"group": group, "label": list(labels), "series": series})
    known = frame.rename(columns={value: "value"}).reindex(columns=["value", "low", "high"]).astype(float)
    return rows.join(known.reset_index(drop=True))


def _keys(frame: pd.DataFrame) -> list[tuple[str, str, str]]:
    return list(zip(frame["group"], frame["label"], frame["series"]))


def _lines(frame: pd.DataFrame) -> list[tuple[str, str | None]]:
    """Return (group, label) of each row of the chart. The row of a heading has the label None."""
    lines: dict[tuple[str, str | None], None] = {}
    for group, label, _ in _keys(frame):
        if group:
            lines.setdefault((group, None))
        lines.setdefault((group, label))
    return list(lines)
