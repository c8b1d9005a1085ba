"""Lines from one word to the words it attends to, for several heads at once."""

import pandas as pd

from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, either, field, hues, layered, marks, nominal
from selfattn.numbers import FINE

# Safe for the colour-blind (Okabe and Ito), without the hues that mean sentence A and B.
SOURCE_COLORS = ("#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#8c6d1f", "#7f7f7f")
WIDTH = 480  # pixels
THINNEST = 0.005  # weights below this have no line


def links(frame: pd.DataFrame, word: str, theme: Theme, *, word_place: int, color: str) -> Spec:
    """Several heads' rows for one word as lines, thicker for more weight.

    frame: source (a head's name, or "average", "rollout"), place (of the word in the list), text, weight, chosen.
    """
    sources = list(dict.fromkeys(frame["source"]))
    texts = frame.drop_duplicates("place").sort_values("place")
    n = len(texts)
    aside = {source: (k - (len(sources) - 1) / 2) * 0.16 for k, source in enumerate(sources)}
    ends = frame.assign(start=word_place, at=frame["place"] + frame["source"].map(aside), x=120, x2=WIDTH - 130)
    downwards = {"domain": [-0.7, n - 0.3], "reverse": True, "nice": False, "zero": False}
    x, y = field("x", axis=None, scale={"domain": [0, WIDTH], "nice": False}), field("at", axis=None, scale=downwards)
    legend = {"title": None, "orient": "top", "symbolType": "stroke", "symbolStrokeWidth": 4, "columns": 4}
    line = {
        "x": x,
        "x2": {"field": "x2"},
        "y": field("start", axis=None, scale=downwards),
        "y2": {"field": "at"},
        "color": nominal("source", scale=hues(dict(zip(sources, SOURCE_COLORS))), legend=legend),
        "strokeWidth": field("weight", scale={"domain": [0, 1], "range": [0.4, 18]}, legend=None),
        "tooltip": [nominal("source", title="head"), nominal("text", title="to"), field("weight", format=FINE)],
    }
    text = {"x": x, "y": y, "text": nominal("text")}
    hue = {"color": either("datum.chosen", color, theme.ink)}
    datasets = {
        "links": ends[ends["weight"] >= THINNEST],
        "words": texts.assign(x=WIDTH - 120, at=texts["place"]),
        "word": [{"text": word, "x": 112, "at": word_place}],
    }
    layers = [
        marks("rule", line, "links", opacity=0.75, strokeCap="butt"),
        marks("text", {**text, **hue}, "words", align="left", baseline="middle", fontSize=13),
        marks("text", text, "word", align="right", baseline="middle", fontSize=14, fontWeight=700, color=color),
    ]
    return layered(layers, datasets, theme, WIDTH, max(140, (26 if n <= 16 else 20) * n))
