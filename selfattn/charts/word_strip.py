"""A sentence as words, each shaded by the weight it gets, with its number beneath it."""

import unicodedata

import numpy as np
import pandas as pd

from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, calculate, either, field, finish, marks, nominal, records, scale, sentence_color
from selfattn.numbers import FINE, WEIGHT

CHIP_HEIGHT, CHIP_GAP, LINE = 24, 6, 50  # in pixels


def word_strip(frame: pd.DataFrame, theme: Theme, width: int = 490) -> Spec:
    """frames.strip_frame of one sentence or several, one above the other: sentence, text, weight, chosen, special."""
    placed = _place_words(frame, width - 30)
    maximum = float(frame["weight"].max()) or 1.0
    faint = placed["special"] & (placed["weight"] < 0.25 * maximum)
    placed["ink"] = np.where(faint, theme.muted, theme.ink)
    placed.loc[placed["weight"] > 0.5 * maximum, "ink"] = theme.background
    height = float(placed["y"].max()) + LINE - 8
    across = {"axis": None, "scale": {"domain": [0, width], "nice": False}}
    down = {"axis": None, "scale": {"domain": [0, height], "reverse": True}}
    tooltip = [nominal("sentence"), nominal("text", title="word"), field("weight", format=FINE)]
    chip = {
        "x": field("x", **across), "x2": {"field": "x2"}, "y": field("y", **down), "y2": {"field": "y2"},
        # No legend: each word has its number beneath it.
        "color": field("weight", scale=scale(theme, "weights", maximum), legend=None),
        "stroke": either("datum.chosen", theme.ink, theme.grid), "strokeWidth": either("datum.chosen", 2.5, 1),
        "tooltip": tooltip,
    }  # fmt: skip
    word = {
        "x": field("middle"), "y": field("y_text"), "text": nominal("text"), "color": nominal("ink", scale=None),
        "tooltip": tooltip,
    }  # fmt: skip
    number = {"x": field("middle"), "y": field("y2"), "text": field("weight", format=WEIGHT), "tooltip": tooltip}
    name = {"x": field("x"), "y": field("y_text"), "text": nominal("sentence"), "color": sentence_color(theme)}
    names = placed.drop_duplicates("sentence").assign(x=4)[["sentence", "x", "y_text"]]
    beneath = calculate(y2="datum.y2 + 2")
    layers = [
        marks("rect", chip, "words", cornerRadius=5),
        marks("text", word, "words", fontSize=14, baseline="middle"),
        marks("text", number, "words", beneath, fontSize=10, baseline="top", color=theme.muted),
        marks("text", name, "sentences", fontSize=16, fontWeight=700, align="left", baseline="middle"),
    ]
    datasets = {"words": records(placed), "sentences": records(names)}
    own = {"scale": {"color": "independent"}}
    return finish({"datasets": datasets, "layer": layers, "width": width, "height": height, "resolve": own}, theme)


def _place_words(frame: pd.DataFrame, width: int) -> pd.DataFrame:
    """Lay the words out in lines of this width, each sentence on lines of its own. Adds x, x2, y, y2 and text places."""
    places, y = [], 8.0
    for _, words in frame.groupby("sentence", sort=False):
        x, y = 26.0, y if not places else y + LINE + 6
        for text in words["text"]:
            w = text_width(text) + 14
            if x + w > width + 26 and x > 26:
                x, y = 26.0, y + LINE
            places.append((x, x + w, y, y + CHIP_HEIGHT, x + w / 2, y + CHIP_HEIGHT / 2))
            x += w + CHIP_GAP
    columns = ["x", "x2", "y", "y2", "middle", "y_text"]
    return pd.concat([frame.reset_index(drop=True), pd.DataFrame(places, columns=columns)], axis=1)


def text_width(text: str) -> float:
    """About how many pixels a text takes at 14 px: wide characters count double, marks nothing."""
    return sum(
        0.0 if unicodedata.category(c).startswith("M") else 15.0 if unicodedata.east_asian_width(c) in "WF" else 7.4
        for c in text
    )
