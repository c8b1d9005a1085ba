"""Bar charts: a short list, and one word's row in A against B.

A spec holds indices, numbers of six digits, and each label once, so that it stays small with 512 tokens.
"""

import pandas as pd

from selfattn.charts.labels import expression, label_axis
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, calculate, either, field, layered, marks, nominal, span
from selfattn.numbers import FINE, WEIGHT

LIST_STEP, WORD_STEP = 30, 24  # pixels between two bars of a list, and between two words of A against B


def bar_list(
    frame: pd.DataFrame,
    value: str,
    theme: Theme,
    number: str = WEIGHT,
    domain: tuple[float, float] | None = None,
    width: int = 240,
    marked: int | None = None,
) -> Spec:
    """Draw one horizontal bar per row, in the frame's order, with its number at the end; the largest is deep blue.

    frame: columns "token" and `value`; NaN has neither bar nor number. number: a d3 format. domain: the ends of the scale (None:
    the values' own, with zero and room for the numbers). marked: the index of the deep blue row (None: of the largest value).
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
    """A domain that holds zero, every bar, and the number at its end."""
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    room = 0.25 * ((high - low) or 1.0)
    return (low - room if low < 0 else 0.0), high + room


def butterfly(frame: pd.DataFrame, theme: Theme, *, name: str) -> Spec:
    """Draw one word's weights in A against B: for each word of both, a bar to the left for A and one to the right for B.

    frame: tidy_tables.against_frame (text, only, a, b). A word that only one sentence has gets that sentence's colour.
    name: the head's, for the title.
    """
    colors = [theme.sentence(only) for only in frame["only"]]
    axis = label_axis(
        frame["text"].tolist(), labelColor={"expr": f"{expression(colors)}[datum.value]"}, labelFontSize=13,
        labelLimit=120,
    )  # fmt: skip
    most = float(frame[["a", "b"]].max().max()) or 1.0
    y = field("place", scale=span(-0.5, len(frame) - 0.5, reverse=True), axis=axis)
    tooltip = [
        nominal("text", title="word"),
        field("a", title="in A", format=FINE),
        field("b", title="in B", format=FINE),
    ]
    layers = []
    for side, sign in (("a", "-"), ("b", "")):
        here = [{"filter": f"isValid(datum.{side})"}, *calculate(x=f"{sign}datum.{side}", zero="0")]
        ends = calculate(top="datum.place - 0.36", bottom="datum.place + 0.36")
        x = field("x", scale=span(-1.25 * most, 1.25 * most), axis=None)
        bar = {
            "x": x, "x2": {"field": "zero"}, "y": {**y, "field": "top"}, "y2": {"field": "bottom"},
            "color": nominal("color", scale=None), "tooltip": tooltip,
        }  # fmt: skip
        text = {"x": x, "y": y, "text": field(side, format=".2f")}
        beside = {"align": "right", "dx": -4} if side == "a" else {"align": "left", "dx": 4}
        layers += [
            marks("rect", bar, "words", [*here, *ends], cornerRadius=1),
            marks("text", text, "words", here, **beside),
        ]
    words = frame.assign(place=range(len(frame)), color=colors)
    title = {"text": f"A against B   {name}", "subtitle": "attention in A to the left, in B to the right"}
    return layered(layers, {"words": words}, theme, 420, WORD_STEP * len(frame), title=title)
