"""Sentences whose words are tinted by a number, as one picture; drawn from the data of the component `shaded`."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from selfattn.charts.labels import text_width
from selfattn.charts.moved_word import placed_words, wrapped
from selfattn.charts.sheet import Sheet
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec

WIDTH = 760  # pixels, as it is drawn unless asked otherwise
TEXT, HEADING, SMALL = 18, 14, 12.5  # pixels of letters
LINE, GAP = 44, 14  # pixels: from one line of a sentence to the next, between two sentences


def shaded(data: Mapping[str, Any], theme: Theme, width: int | None = None) -> Spec:
    """All rows, one beneath the other, `width` pixels wide."""
    sheet, width = Sheet(theme), width or WIDTH
    ramp = (*theme.effect[:3], theme.weights[2], theme.weights[4]) if data.get("kind") == "weights" else theme.effect
    return sheet.drawn(width, math.ceil(rows(sheet, ramp, data["rows"], 0.0, width)))


def rows(sheet: Sheet, ramp: Sequence[str], given: Sequence[Mapping[str, Any]], y: float, width: float) -> float:
    """Draw rows from y on; returns where they end. ramp: the colours, from the deepest below 0 to the deepest above."""
    theme = sheet.theme
    for row in given:
        if heading := row.get("heading"):
            y = sheet.lines(0, y + HEADING, wrapped(heading, width, HEADING), HEADING, theme.ink) + GAP / 2
        y = sheet.lines(0, y + SMALL, wrapped(row["said"], width, SMALL), SMALL, theme.muted)
        words = placed_words(row, width, TEXT)
        for one in words:
            _draw(sheet, ramp, one.word, one.x, one.wide, y + 8 + LINE * one.line)
        y += LINE * (1 + (words[-1].line if words else 0)) + GAP
    return y


def _draw(sheet: Sheet, ramp: Sequence[str], word: Mapping[str, Any], x: float, wide: float, y: float) -> None:
    """One word with its number beneath. y: of its baseline."""
    theme, depth = sheet.theme, abs(word["depth"]) / 100
    chosen = word["kind"] == "chosen"
    if depth or word["kind"] == "leader":
        color = (ramp[1] if word["depth"] < 0 else ramp[3]) if depth else theme.grid
        sheet.rect(x - 2, y - TEXT, x + wide + 2, y + 5, color, opacity=depth or 1, said=word["tip"])
    if chosen:
        sheet.rule(x, y + 5, x + wide, y + 5, theme.ink, 2)
    sheet.text(x, y, word["text"], TEXT, theme.ink, bold=chosen)
    if word["number"]:
        color = theme.muted if word["kind"] == "leader" else ramp[0] if word["depth"] < 0 else ramp[4]
        middle = max(x + wide / 2, text_width(word["number"], SMALL) / 2)
        sheet.text(middle, y + 18, word["number"], SMALL, color, align="center")
