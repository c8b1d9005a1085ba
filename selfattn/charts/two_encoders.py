"""Draw bars that compare two encoders' numbers for the same words."""

from collections.abc import Sequence

import pandas as pd

from selfattn.charts.labels import label_axis
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, calculate, either, field, fluid, hues, layered, marks, nominal, span
from selfattn.numbers import change

TALL = 400  # pixels: the height of all bars together
ROW = (24, 68)  # pixels: the least and the largest height of a bar
NUMBER, LABEL = 52, 190  # pixels: the width of a number; of a label
WIDTH = 552  # pixels, the default


def difference_bars(
    frame: pd.DataFrame, theme: Theme, names: Sequence[str], *, title: str, places: int, width: int | None = None
) -> Spec:
    """Draw a bar for each row, from 0 to the row's difference (first minus second).

    frame: columns label, first, second, difference. width: pixels (None: the container's width).
    """
    values, more = frame["difference"].astype(float), [f"more in {name}" for name in names]
    bold = either(f"datum.value == {int(values.abs().argmax())}", "bold", "normal")
    axis = label_axis(
        frame["label"].tolist(), labelFontSize=14, labelLimit=LABEL, labelColor=theme.ink, labelFontWeight=bold,
        labelPadding=NUMBER + 8,
    )  # fmt: skip
    y = field("at", axis=axis, scale=span(-0.5, len(frame) - 0.5, reverse=True))
    x = field("difference", scale=span(min(0.0, float(values.min())), max(0.0, float(values.max()))), axis=None)
    legend = {
        "title": None, "orient": "top", "direction": "vertical", "symbolType": "square", "symbolSize": 150,
        "labelFontSize": 14, "labelColor": theme.ink, "labelLimit": 0, "offset": 5,
    }  # fmt: skip
    sides = [field(side, format=f".{places}f", title=name) for side, name in zip(("first", "second"), names)]
    bar = {
        "y": {**y, "field": "top"}, "y2": {"field": "bottom"}, "x": x, "x2": {"field": "zero"},
        "color": nominal("more", scale=hues(dict(zip(more, theme.signed[::-4]))), legend=legend),
        "tooltip": [nominal("label", title=" "), *sides, nominal("said", title="difference")],
    }  # fmt: skip
    number, beside = {"y": y, "x": x, "text": nominal("said")}, {"fontSize": 13, "color": theme.ink}
    ends = calculate(top="datum.at - 0.34", bottom="datum.at + 0.34", zero="0")
    layers = [
        marks("rect", bar, "", ends, cornerRadius=2),
        marks("rule", {"x": field("zero", axis=None)}, "zero", color=theme.muted),
        marks("text", number, "", [{"filter": "datum.difference >= 0"}], align="left", dx=6, **beside),
        marks("text", number, "", [{"filter": "datum.difference < 0"}], align="right", dx=-6, **beside),
    ]
    said = [change(value, places) for value in values]
    bars = frame.assign(at=range(len(frame)), more=[more[value < 0] for value in values], said=said)
    look = {
        "title": {"text": title, "fontSize": 14, "fontWeight": "normal", "frame": "bounds", "offset": 8},
        "padding": {"left": 0, "right": NUMBER, "top": 5, "bottom": 5},
    }
    height = len(frame) * min(max(TALL / len(frame), ROW[0]), ROW[1])
    datasets = {"bars": bars, "zero": [{"zero": 0.0}]}
    return fluid(layered(layers, datasets, theme, WIDTH, height, data={"name": "bars"}, **look), width)
