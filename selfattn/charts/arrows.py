"""Draw two-dimensional vectors as arrows."""

import math
from collections.abc import Iterable, Sequence

import pandas as pd

from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, either, field, layered, marks, nominal, span
from selfattn.numbers import WEIGHT

PLANE = 320  # pixels: the side of the plane
HEAD = {"shape": "triangle", "filled": True, "opacity": 1, "size": 110}


def arrows(frame: pd.DataFrame, theme: Theme, thickness: str, strong: str, size: int = PLANE) -> Spec:
    """Draw arrows from the origin to (x, y).

    frame: columns x, y, kind, label. thickness: the column that sets the widths.
    strong: arrows of this kind have the text colour.
    """
    x, y = _apart(frame)
    data = frame.assign(
        x0=x,
        y0=y,
        x1=frame["x"] + x,
        y1=frame["y"] + y,
        width=_widths(frame[thickness]),
        turn=_turns(frame["x"], frame["y"]),
        strong=frame["kind"] == strong,
        label=_shared_tips(frame),
    ).sort_values("strong")  # strong arrows are drawn last, so that no equal arrow covers them
    domain = {"domain": _square(frame), "nice": False}
    origin = {name: field(f"{name}0", title=None, scale=domain, axis={"tickCount": 5}) for name in "xy"}
    tip = {"x": field("x1"), "y": field("y1")}
    color = either("datum.strong", theme.ink, theme.weights[3])
    shaft = {
        **origin, "x2": {"field": "x1"}, "y2": {"field": "y1"}, "color": color,
        "strokeWidth": field("width", scale=None, legend=None),
    }  # fmt: skip
    tooltip = [nominal("label"), field("x"), field("y"), field(thickness, format=WEIGHT)]
    layers = [
        marks("rule", shaft, opacity=0.9),
        marks("point", {**tip, "color": color, "angle": field("turn", scale=None)}, **HEAD),
        *(layer for strong in (False, True) for layer in _tip_labels(tip, theme, strong)),
        marks("point", {**tip, "tooltip": tooltip}, size=400, opacity=0),
    ]
    return layered(layers, {"arrows": data}, theme, size, size, data={"name": "arrows"})


def moves(frame: pd.DataFrame, theme: Theme, ends: Sequence[tuple[float, float]], titles: tuple[str, str]) -> Spec:
    """Draw arrows from (x0, y0) to (x, y), or dots where both points are equal.

    frame: columns x0, y0, x, y, label, colour. ends, titles: the domain and the title of each axis.
    """
    still = (frame["x"] == frame["x0"]) & (frame["y"] == frame["y0"])
    turn = _turns(frame["x"] - frame["x0"], frame["y"] - frame["y0"])
    data = frame.assign(turn=turn, shape=still.map({True: "circle", False: "triangle"}), label=_shared_tips(frame))
    axes = zip("xy", ends, titles)
    start = {name: field(f"{name}0", title=title, scale=span(*end), axis={"tickCount": 5}) for name, end, title in axes}
    tip = {"x": field("x"), "y": field("y"), "tooltip": nominal("label")}
    color = {"color": nominal("colour", scale=None, legend=None)}
    shape = {"shape": nominal("shape", scale=None, legend=None), "angle": field("turn", scale=None)}
    layers = [
        marks("rule", {**start, "x2": {"field": "x"}, "y2": {"field": "y"}, **color}, strokeWidth=2),
        marks("point", {**tip, **color, **shape}, **{key: value for key, value in HEAD.items() if key != "shape"}),
        marks("text", {**tip, **color, "text": nominal("label")}, align="left", dx=10, dy=-6, fontWeight=600),
    ]
    return layered(layers, {"arrows": data}, theme, 260, 260, data={"name": "arrows"})


def _apart(frame: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Return sideways shifts (x, y) that keep arrows of equal direction apart."""
    turns = pd.Series(_turns(frame["x"], frame["y"]), frame.index).round()
    aside = turns.groupby(turns).cumcount() * 0.03 * (max(_square(frame)) - min(_square(frame)))
    angle = turns.map(math.radians)
    return aside * angle.map(math.cos), -aside * angle.map(math.sin)


def _turns(across: Iterable[float], up: Iterable[float]) -> list[float]:
    """Return each direction in degrees clockwise from straight up."""
    return [math.degrees(math.atan2(x, y)) for x, y in zip(across, up)]


def _square(frame: pd.DataFrame) -> list[float]:
    """Return one domain for both axes, so that angles aren't distorted."""
    values = [0.0, *frame["x"], *frame["y"]]
    room = 0.18 * ((max(values) - min(values)) or 1.0)
    return [min(values) - room if min(values) < 0 else -0.5 * room, max(values) + room]


def _tip_labels(tip: Spec, theme: Theme, strong: bool) -> list[Spec]:
    look = {"align": "left", "dx": 9, "dy": 15 if strong else -9, "fontWeight": 600}
    chosen = [{"filter": f"datum.strong === {str(strong).lower()}"}]
    text = {**tip, "text": nominal("label")}
    halo = {**text, "stroke": {"value": theme.background}, "strokeWidth": {"value": 4}}
    ink = {**text, "color": {"value": theme.ink if strong else theme.weights[4]}}
    return [marks("text", halo, "", chosen, **look), marks("text", ink, "", chosen, **look)]


def _shared_tips(frame: pd.DataFrame) -> list[str]:
    """Return a label for each arrow. If several end at the same point, the first gets all their labels and the others none."""
    tips = frame.groupby(["x", "y"])
    joined = tips["label"].transform(lambda labels: ", ".join(dict.fromkeys(filter(None, labels))))
    return joined.where(tips.cumcount() == 0, "").tolist()


def _widths(values: pd.Series) -> list[float]:
    largest = values.abs().max()
    return [2.0 if pd.isna(value) else 1.0 + 6.0 * abs(value) / (largest or 1.0) for value in values]
