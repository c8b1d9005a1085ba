"""The way from a word's vector in one sentence to its vector in the other, and how far a swap moves it."""

import math

from selfattn import numbers
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, field, layered, marks, nominal, span

EDGE = 0.12  # of the way, left free at both ends for the names


def way(word: str, share: float, theme: Theme, control: float = math.nan) -> Spec:
    """A line from A's vector (0) to B's (1), the word's point at `share`, the control's smaller one beneath.

    share: how far the word has moved; 0 before a swap. control: how far the same swap from a sentence of A's sense moves it.
    """
    ends = [
        {"share": 0.0, "name": f"{word} (A)", "color": theme.sentence_a},
        {"share": 1.0, "name": f"{word} (B)", "color": theme.sentence_b},
    ]
    moved = [{"share": share, "text": numbers.share(share), "what": "after the swap"}] if math.isfinite(share) else []
    same = [{"share": control, "text": f"from the control {numbers.share(control)}"}] if math.isfinite(control) else []
    places = [0.0, 1.0, *(point["share"] for point in (*moved, *same))]
    across = {"scale": span(min(places) - EDGE, max(places) + EDGE), "axis": None}
    x = field("share", **across)
    tip = [nominal("text", title="of the way")]
    layers = [
        marks("rule", {"x": {**x, "field": "from"}, "x2": {"field": "to"}}, "line", color=theme.grid, strokeWidth=4),
        marks("point", {"x": x, "color": nominal("color", scale=None)}, "ends", filled=True, size=90, opacity=1),
        marks("text", {"x": x, "text": nominal("name"), "color": nominal("color", scale=None)}, "ends", dy=20),
        marks("point", {"x": x, "tooltip": tip}, "control", color=theme.muted, size=60, shape="triangle-up", dy=0),
        marks("text", {"x": x, "text": nominal("text")}, "control", dy=34, fontSize=11, color=theme.muted),
        marks("point", {"x": x, "tooltip": tip}, "moved", filled=True, size=200, opacity=1, color=theme.ink),
        marks("text", {"x": x, "text": nominal("text")}, "moved", dy=-16, fontSize=14, fontWeight=600),
    ]
    datasets = {"line": [{"from": 0.0, "to": 1.0}], "ends": ends, "control": same, "moved": moved}
    drawn = [layer for layer in layers if datasets[layer["data"]["name"]]]
    datasets = {name: rows for name, rows in datasets.items() if rows}
    return layered(drawn, datasets, theme, 400, 76, resolve={"scale": {"color": "independent"}})
