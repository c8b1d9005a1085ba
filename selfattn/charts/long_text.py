"""Long texts as one picture: each sentence tinted by what hiding it does, under its effect over position."""

import math
from collections.abc import Mapping
from typing import Any

from selfattn.charts.moved_word import Scale, wrapped
from selfattn.charts.shaded import WIDTH, rows
from selfattn.charts.sheet import Sheet
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec

FINDING, SMALL, TALL = 20, 12.5, 36  # pixels of letters; of the largest effect, up and down


def long_text(data: Mapping[str, Any], theme: Theme, width: int | None = None) -> Spec:
    """The figure of the component `long_text`, by dashboard/components/long_text.schema.json."""
    sheet, width = Sheet(theme), width or WIDTH
    y = sheet.lines(0, FINDING, wrapped(data["finding"], width, FINDING, bold=True), FINDING, bold=True)
    for line in data["below"]:
        y = sheet.lines(0, y, wrapped(line, width, SMALL), SMALL, theme.muted)
    for text in data["texts"]:
        y = _curve(sheet, text, y + 10, width)
        words = [word for sentence in text["sentences"] for word in _words(sentence)]
        y = rows(sheet, theme.effect, [{"said": text["said"], "dir": text["dir"], "words": words}], y, width)
    return sheet.drawn(width, math.ceil(y))


def _curve(sheet: Sheet, text: Mapping[str, Any], y: float, width: float) -> float:
    """Each sentence's effect over its place, in its band of noise. y: of the top."""
    theme, place, base = sheet.theme, Scale(0, text["tokens"], 0, width), y + TALL
    if text["read"] < text["tokens"]:
        sheet.rect(place(text["read"]), y, width, base + TALL, theme.grid, said="never read")
    for one in text["sentences"]:
        if one["kind"] == "lost":
            continue
        left, right, effect, level = place(one["start"]), place(one["stop"]), one["effect"], one["level"]
        sheet.rect(left, base - TALL * level, right, base + TALL * level, theme.grid, what="level", value=level)
        color, opacity = theme.effect[1 if effect < 0 else 3], 1 if one["kind"] == "named" else 0.55
        ends = base - TALL * max(effect, 0), base - TALL * min(effect, 0)
        sheet.rect(
            left, ends[0], right, ends[1], color, opacity=opacity, said=one["tip"], what="sentence", value=effect
        )
    sheet.rule(0, base, width, base, theme.muted)
    return base + TALL + 14


def _words(sentence: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A sentence as the words of a shaded row, its number beneath the first."""
    look = {"gap": True, "kind": "word", "depth": round(100 * sentence["effect"]), "tip": sentence["tip"]}
    texts = sentence["text"].split()
    named = sentence["kind"] == "named"
    return [
        {**look, "text": text, "number": sentence["number"] if named and not n else ""} for n, text in enumerate(texts)
    ]
