"""Draw horizontal bars, each with its number beside it."""

import pandas as pd

from selfattn.charts.labels import label_axis
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, calculate, either, field, layered, marks, nominal
from selfattn.numbers import WEIGHT

LIST_STEP = 30  # pixels from one bar to the next


def bar_list(
    frame: pd.DataFrame,
    value: str,
    theme: Theme,
    number: str = WEIGHT,
    domain: tuple[float, float] | None = None,
    width: int = 240,
    marked: int | None = None,
) -> Spec:
    """Draw a horizontal bar for each row, and write the row's value beside the bar.

    frame: the column "token", and the column that `value` names. number: the d3 format of the values.
    marked: the index of the row whose bar is deep blue (None: the largest).
    """
    deep = frame[value] == frame[value].max() if marked is None else [place == marked for place in range(len(frame))]
    data = frame[["token", value]].assign(place=range(len(frame)), largest=deep)
    axis = label_axis(frame["token"].astype(str).tolist(), labelLimit=160, labelPadding=6)
    place = {"y": field("place", "ordinal", axis=axis, scale={"domain": data["place"].tolist()})}
    ends = {"domain": list(domain or _roomy(frame[value])), "nice": False}
    bar = {
        **place,
        "x": field(value, title=None, scale=ends, axis=None),
        "color": either("datum.largest", theme.weights[4], theme.weights[2]),
        "tooltip": [nominal("token"), field(value, format=number)],
    }
    text = {**place, "x": field("end"), "text": field(value, format=number)}
    beyond = [{"filter": f"isValid(datum['{value}'])"}, *calculate(end=f"max(0, datum['{value}'])")]
    layers = [
        marks("bar", bar, height=16, cornerRadiusEnd=2),
        marks("rule", {"x": field("zero")}, "zero", color=theme.muted),
        marks("text", text, transform=beyond, align="left", dx=5, color=theme.ink),
    ]
    datasets = {"bars": data, "zero": [{"zero": 0.0}]}
    return layered(layers, datasets, theme, width, LIST_STEP * len(frame), data={"name": "bars"})


def _roomy(values: pd.Series) -> tuple[float, float]:
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    room = 0.25 * ((high - low) or 1.0)
    return (low - room if low < 0 else 0.0), high + room
