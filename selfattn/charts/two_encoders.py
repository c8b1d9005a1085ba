"""Two encoders: what a word gives more weight in one of them, and each head's distance from its counterpart beside chance."""

import json
from collections.abc import Sequence

import pandas as pd

from selfattn.charts.labels import label_axis
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, calculate, either, field, fluid, hues, layered, marks, nominal, span
from selfattn.numbers import change

TALL, ROW = 400, (24, 68)  # pixels of all bars, as of the map beside them, and the least and the most of one
NUMBER, LABEL = 52, 190  # pixels of a number beside its bar, and of a label
WIDTH, HEIGHT = 552, 215  # pixels, as they are drawn unless asked otherwise
MINUS = ("difference", "least", "most")  # a head's distance and the ends of its interval, each minus `others`
LAYERS, BESIDE = 12, 0.24  # layers that are named; room right of the heads, of theirs
LINE = 16  # pixels of a line of text


def difference_bars(
    frame: pd.DataFrame, theme: Theme, names: Sequence[str], *, title: str, places: int, width: int | None = None
) -> Spec:
    """Draw first minus second as bars, above 0 to the right, in the colours that end a map's; the largest one's label is bold.

    frame: label, first, second, difference. names: of the first and the second. places: decimals of the numbers. width: of the
    whole, in pixels; None: of the room that it has.
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


def beside_chance(
    frame: pd.DataFrame, theme: Theme, labelled: Sequence[str], chosen: str, what: str, width: int | None = None
) -> Spec:
    """Draw a dot a head, by layer: its distance from its counterpart minus that from those of the other heads of its layer.

    Below 0 a head is nearer to its own. frame: layer, name, distance, low, high, others, nearer (teal), in order of the layers.
    labelled: heads that have their names; chosen: the one with a ring. what: a counterpart's name. width: as in
    `difference_bars`.
    """
    minus = {each: frame[column] - frame["others"] for each, column in zip(MINUS, ("distance", "low", "high"))}
    heads = frame.assign(at=range(len(frame)), **minus, text=frame["name"].where(frame["name"].isin(labelled), ""))
    n, ends = len(heads), heads[[*MINUS]].stack()
    bottom, top = min(0.0, ends.min()), max(0.0, ends.max())
    room = (top - bottom) * 0.12 or 0.1
    firsts = heads.groupby("layer", sort=False)["at"].agg(["min", "mean"])
    every = -(-len(firsts) // LAYERS)
    names = {at: f"L{layer}" for layer, at in firsts["mean"].iloc[::every].items()}
    axis = {
        "values": list(names), "labelExpr": f"{json.dumps(list(names.values()))}[indexof({list(names)}, datum.value)]",
        "title": None, "grid": False, "labelFontSize": 13,
    }  # fmt: skip
    x = field("at", scale=span(-1.0, n * (1 + BESIDE)), axis=axis)
    from_zero = {
        "format": "+.2~f",
        "labelExpr": "datum.value == 0 ? '0' : datum.label",
        "tickCount": 6,
        "labelFontSize": 13,
        "titleFontSize": 13,
        "titlePadding": 10,
    }
    title = f"distance: own {what} − others'"
    y = field(
        "difference", scale=span(bottom - room, top + room), axis={**from_zero, "title": title, "titleColor": theme.ink}
    )
    color, ink = ({"color": either("datum.nearer", theme.effect[-1], other)} for other in (theme.muted, theme.ink))
    tooltip = [
        nominal("name", title="head"),
        field("distance", format=".3f", title=f"elsewhere in its own {what}"),
        field("others", format=".3f", title=f"in other heads' {what}s"),
        *(field(each, format="+.3f", title=title) for each, title in zip(MINUS, ("difference", "low", "high"))),
    ]
    at, written = {"x": x, "y": y}, {"x": x, "y": y, "text": nominal("text")}
    name = {"align": "left", "dx": 9, "dy": -9, "fontSize": 13.5, "fontWeight": "bold"}
    said = {"align": "right", "fontSize": 13, "color": theme.ink, "lineBreak": "\n", "lineHeight": LINE}
    only = lambda test: [{"filter": test}]  # noqa: E731
    label = "", only("datum.text")
    layers = [
        marks("rule", {"x": x}, "layers", color=theme.grid),
        marks("rule", {"y": y}, "zero", strokeDash=[5, 4], strokeWidth=1.5, color=theme.ink),
        marks("rule", {"x": x, "y": {**y, "field": "least"}, "y2": {"field": "most"}, **color}, opacity=0.55, strokeWidth=1.5),
        marks("point", {**at, **color, "tooltip": tooltip}, filled=True, size=36, opacity=0.9),
        marks("point", at, "", only({"field": "name", "equal": chosen}), size=150, color=theme.ink, strokeWidth=2),
        marks("text", {**written, "color": {"value": theme.background}}, *label, **name, stroke=theme.background, strokeWidth=4),
        marks("text", {**written, **ink}, *label, **name),
        marks("text", written, "zero", baseline="bottom", dy=-5 - 2 * LINE, **said),
        marks("text", {**written, "text": nominal("under")}, "zero", baseline="top", dy=8, **said),
    ]  # fmt: skip
    datasets = {
        "heads": heads,
        "layers": [{"at": float(place) - 0.5} for place in firsts["min"].iloc[1:]],
        "zero": [
            {"at": n * (1 + BESIDE), "difference": 0.0, "text": f"no nearer\nto its own\n{what}", "under": "↓ nearer"}
        ],
    }
    return fluid(layered(layers, datasets, theme, WIDTH, HEIGHT, data={"name": "heads"}), width)
