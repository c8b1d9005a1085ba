"""Draw how many steps recurrence and attention take from one word to another."""

import math
from collections.abc import Sequence

from selfattn.charts.labels import expression, label_axis
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, either, field, layered, marks, nominal, span

POINTS = 16  # straight pieces of an arc
TOP = 3.2  # the height of the long arc; a hop has height 1


def hops(words: Sequence[str], start: int, stop: int, left: Sequence[float], theme: Theme, width: int = 1000) -> Spec:
    """Draw a hop from each word to the next, and above the hops one arc from `start` to `stop`.

    start < stop: indices of words. left: how much information is left after each hop, 0 to 1.
    """
    hop = [
        {"hop": at, "x": at + t, "y": math.sin(math.pi * t), "left": share, "width": 1 + 7 * share}
        for at, share in zip(range(start, stop), left, strict=True)
        for t in _along()
    ]
    arc = [{"x": start + (stop - start) * t, "y": 0.4 + TOP * math.sin(math.pi * t)} for t in _along()]
    middle = (start + stop) / 2
    said = [
        {"x": middle, "y": 1.4, "text": f"recurrence: {stop - start} steps, each mixing in a word", "arc": False},
        {"x": middle, "y": TOP + 0.75, "text": "attention: 1 step", "arc": True},
    ]
    ends = [theme.ink if at in (start, stop) else theme.muted for at in range(len(words))]
    axis = label_axis(words, labelAngle=-40, labelColor={"expr": f"{expression(ends)}[datum.value]"}, orient="bottom")
    across = {
        "x": field("x", scale=span(-0.5, len(words) - 0.5), axis={**axis, "title": None}),
        "y": field("y", scale=span(0, TOP + 1), axis=None),
    }
    thick = {"size": field("width", scale=None, legend=None), "detail": nominal("hop")}
    ink = {"text": nominal("text"), "color": either("datum.arc", theme.weights[4], theme.muted)}
    layers = [
        marks("trail", {**across, **thick, "tooltip": field("left", format=".2f")}, "hops", color=theme.muted),
        marks("line", across, "arc", color=theme.weights[4], strokeWidth=4),
        marks("text", {**across, **ink}, "said"),
    ]
    return layered(layers, {"hops": hop, "arc": arc, "said": said}, theme, width, 130)


def _along() -> list[float]:
    return [step / POINTS for step in range(POINTS + 1)]
