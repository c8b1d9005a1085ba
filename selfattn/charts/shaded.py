"""Draw sentences with tinted words as one picture."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from selfattn.charts.labels import text_width
from selfattn.charts.moved_word import Placed, Scale, placed_words, wrapped
from selfattn.charts.sheet import Sheet
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec

WIDTH = 760  # pixels, the default
FINDING, TEXT, HEADING, SMALL = 20, 18, 14, 12.5  # font sizes in pixels
LINE, GAP = 44, 14  # pixels: from one line of a sentence to the next; between sentences
TALL = 36  # pixels: the height of the largest effect, above and below 0


def shaded(data: Mapping[str, Any], theme: Theme, width: int | None = None) -> Spec:
    """Draw the data's rows, one below another, in a picture of `width` pixels."""
    sheet, width, y = Sheet(theme), width or WIDTH, 0.0
    ramp = (*theme.effect[:3], theme.weights[2], theme.weights[4]) if data.get("kind") == "weights" else theme.effect
    if finding := data.get("finding"):
        y = sheet.lines(0, FINDING, wrapped(finding, width, FINDING, bold=True), FINDING, bold=True)
    for row in data["rows"]:
        if heading := row.get("heading"):
            y = sheet.lines(0, y + HEADING, wrapped(heading, width, HEADING), HEADING, theme.ink) + GAP / 2
        y = sheet.lines(0, y + SMALL, wrapped(row["said"], width, SMALL), SMALL, theme.muted)
        if "read" in row:
            y = _curve(sheet, row, y, width)
            row = {**row, "words": [word for sentence in row["words"] for word in _words(sentence)]}
        placed = placed_words(row, width, TEXT)
        for one in placed:
            base = y + 8 + LINE * one.line
            tinted_word(sheet, ramp, one, one.x, base, TEXT, base + 18)
        y += LINE * (1 + (placed[-1].line if placed else 0)) + GAP
    return sheet.drawn(width, math.ceil(y))


def _curve(sheet: Sheet, row: Mapping[str, Any], y: float, width: float) -> float:
    """Draw each sentence's noise level and effect as bars. Return the y below the bars."""
    theme, place, base = sheet.theme, Scale(0, row["tokens"], 0, width), y + TALL
    if row["read"] < row["tokens"]:
        sheet.rect(place(row["read"]), y, width, base + TALL, theme.grid, said="never read")
    for one in row["words"]:
        if one["kind"] == "lost":
            continue
        left, right, effect, level = place(one["start"]), place(one["stop"]), one["depth"] / 100, one["level"] / 100
        sheet.rect(left, base - TALL * level, right, base + TALL * level, theme.grid, what="level", value=level)
        look = {"opacity": 1 if one["kind"] == "named" else 0.55, "said": one["tip"], "what": "sentence"}
        color, top, bottom = theme.effect[1 if effect < 0 else 3], max(effect, 0), min(effect, 0)
        sheet.rect(left, base - TALL * top, right, base - TALL * bottom, color, value=effect, **look)
    sheet.rule(0, base, width, base, theme.muted)
    return base + TALL + GAP


def _words(sentence: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Split a sentence into words. The number to print beneath the sentence goes to its first word."""
    number = sentence["number"] if sentence["kind"] == "named" else ""
    words = [{**sentence, "text": text, "gap": True, "kind": "word", "number": ""} for text in sentence["text"].split()]
    return [{**words[0], "number": number, "gap": sentence["gap"]}, *words[1:]] if words else []


def tinted_word(sheet: Sheet, ramp: Sequence[str], one: Placed, x: float, y: float, size: float, number: float) -> None:
    """Draw a word, and the word's number below it.

    y, number: the y of the word's baseline, and the y of the number's baseline
    ramp: five colours, from negative to positive numbers
    """
    theme, word, depth = sheet.theme, one.word, one.word["depth"] / 100
    chosen = word["kind"] == "chosen"
    if depth or word["kind"] == "leader":
        color, said = (ramp[1] if depth < 0 else ramp[3]) if depth else theme.grid, word.get("tip", "")
        ground = (x - 2, y - size, x + one.wide + 2, y + 5)
        sheet.rect(*ground, color, opacity=abs(depth) or 1, said=said, what="word", value=depth)
    if chosen:
        sheet.rule(x, y + 5, x + one.wide, y + 5, theme.ink, 2)
    sheet.text(x, y, word["text"], size, theme.ink, bold=chosen)
    if word["number"]:
        color = theme.muted if word["kind"] == "leader" else ramp[0] if depth < 0 else ramp[4]
        middle = max(x + one.wide / 2, text_width(word["number"], SMALL) / 2)
        sheet.text(middle, number, word["number"], SMALL, color, align="center")
