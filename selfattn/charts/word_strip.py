"""A sentence as words, each shaded by the weight it gets, with its number beneath it."""

import unicodedata

import pandas as pd

from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, calculate, either, field, hues, layered, marks, nominal, records, scale
from selfattn.numbers import FINE, WEIGHT

CHIP_HEIGHT, CHIP_GAP, LINE = 24, 6, 50  # in pixels


def word_strip(
    frame: pd.DataFrame | list[dict],
    theme: Theme,
    width: int = 490,
    maximum: float = 0.0,
) -> Spec:
    """tidy_tables.strip_rows of one sentence or several, one above the other: sentence, text, weight, chosen, special.

    maximum: the weight of the deepest colour (0: theirs).
    """
    words = _place_words(frame, width - 30)
    maximum = maximum or max(word["weight"] for word in words) or 1.0
    letters: dict[str, float] = {}  # on the first line of each sentence
    for word in words:
        letters.setdefault(word["sentence"], word["y_text"])
        muted = word["special"] and word["weight"] < 0.25 * maximum
        word["ink"] = theme.background if word["weight"] > 0.5 * maximum else theme.muted if muted else theme.ink
    names = [{"sentence": name, "x": 4, "y_text": y} for name, y in letters.items()]
    height = words[-1]["y"] + LINE - 8
    across = {"axis": None, "scale": {"domain": [0, width], "nice": False}}
    down = {"axis": None, "scale": {"domain": [0, height], "reverse": True}}
    tooltip = [nominal("sentence"), nominal("text", title="word"), field("weight", format=FINE)]
    chip = {
        "x": field("x", **across), "x2": {"field": "x2"}, "y": field("y", **down), "y2": {"field": "y2"},
        "color": field("weight", scale=scale(theme, "weights", maximum), legend=None),
        "stroke": either("datum.chosen", theme.ink, theme.grid), "strokeWidth": either("datum.chosen", 2.5, 1),
        "tooltip": tooltip,
    }  # fmt: skip
    text = {
        "x": field("middle"), "y": field("y_text"), "text": nominal("text"), "color": nominal("ink", scale=None),
        "tooltip": tooltip,
    }  # fmt: skip
    number = {"x": field("middle"), "y": field("y2"), "text": field("weight", format=WEIGHT), "tooltip": tooltip}
    hue = nominal("sentence", scale=hues({"A": theme.sentence_a, "B": theme.sentence_b}), legend=None)
    name = {"x": field("x"), "y": field("y_text"), "text": nominal("sentence"), "color": hue}
    beneath = calculate(y2="datum.y2 + 2")
    layers = [
        marks("rect", chip, "words", cornerRadius=5),
        marks("text", text, "words", fontSize=14, baseline="middle"),
        marks("text", number, "words", beneath, fontSize=10, baseline="top", color=theme.muted),
        marks("text", name, "sentences", fontSize=16, fontWeight=700, align="left", baseline="middle"),
    ]
    datasets = {"words": words, "sentences": names}
    own = {"scale": {"color": "independent"}}
    return layered(layers, datasets, theme, width, height, resolve=own)


def _place_words(frame: pd.DataFrame | list[dict], width: int) -> list[Spec]:
    """The frame's rows as records, laid out in lines of this width, each sentence on its own: x, x2, y, y2 and text places."""
    words, x, y, before = records(frame), 26.0, 8.0, None
    for word in words:
        wide = text_width(word["text"]) + 14
        if before is not None and word["sentence"] != before:
            x, y = 26.0, y + LINE + 6
        elif x + wide > width + 26 and x > 26:
            x, y = 26.0, y + LINE
        word.update(x=x, x2=x + wide, y=y, y2=y + CHIP_HEIGHT, middle=x + wide / 2, y_text=y + CHIP_HEIGHT / 2)
        x, before = x + wide + CHIP_GAP, word["sentence"]
    return words


def text_width(text: str) -> float:
    """About how many pixels a text takes at 14 px: wide characters count double, marks nothing."""
    return sum(
        0.0 if unicodedata.category(c).startswith("M") else 15.0 if unicodedata.east_asian_width(c) in "WF" else 7.4
        for c in text
    )
