"""What one word attends to in A against B: a bar to the left and one to the right for each word of both."""

import pandas as pd

from selfattn.charts.labels import expression, label_axis
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, calculate, field, layered, marks, nominal, span
from selfattn.numbers import FINE

ROW = 24  # pixels a word


def butterfly(frame: pd.DataFrame, theme: Theme, *, name: str) -> Spec:
    """tidy_tables.against_frame (text, only, a, b): words that one sentence only has stand in that sentence's colour.

    name: the head's, for the title.
    """
    hues = {"": theme.muted, "A": theme.sentence_a, "B": theme.sentence_b}
    colors = [hues[only] for only in frame["only"]]
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
    return layered(layers, {"words": words}, theme, 420, ROW * len(frame), title=title)
