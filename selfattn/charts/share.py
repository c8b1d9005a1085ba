"""A picture to send on, 1200 x 675: the finding, the sentence with its word hidden, and how far the other word moves."""

import math
from itertools import pairwise

from selfattn.charts.labels import text_width
from selfattn.charts.moved_word import (
    Data,
    Scale,
    Shown,
    moving,
    percent,
    placed_words,
    scale_of,
    sentence,
    without,
    wrapped,
)
from selfattn.charts.sheet import Sheet
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec

WIDTH, HEIGHT, MARGIN = 1200, 675, 70
FINDING, WORD, LONG_WORD, LABEL, FOOT = 36, 34, 24, 22, 17  # pixels of letters
BASE = 505  # y of the line


def share(data: Data, theme: Theme) -> Spec:
    """The picture, of the data of the component `way`."""
    shown, sheet = Shown(data), Sheet(theme)
    across = WIDTH - 2 * MARGIN
    size = next(size for size in (FINDING, 30, 26, 22) if size == 22 or len(_lines(data, across, size)) < 3)
    y = sheet.lines(MARGIN, MARGIN + 0.6 * size, _lines(data, across, size), size, bold=True)
    if shown.answer:
        _hidden_word(sheet, shown, shown.answer, y - size + 18, across)
    else:
        for at in (0, 1):
            y = sentence(sheet, shown, at, MARGIN, y - (size if not at else 0), across, LONG_WORD)
    if data["way"]:
        _way(sheet, shown, scale_of(shown, MARGIN + 60, WIDTH - MARGIN - 60))
    counts = sum(end["count"] for end in data["way"]["ends"]) if data["way"] else 0
    dots = f'Each dot: "{data["word"]}" in one of {counts} other sentences. ' if counts else ""
    sheet.text(MARGIN, HEIGHT - 32, f"{dots}Encoder: {data['encoder']}, last layer.", FOOT, theme.muted)
    sheet.text(WIDTH - MARGIN, HEIGHT - 32, "selfattn", FOOT, theme.ink, align="right", bold=True)
    return {**sheet.drawn(WIDTH, HEIGHT), "padding": 0}


def _lines(data: Data, width: float, size: float) -> list[str]:
    return wrapped(data["finding"], width, size, bold=True)


def _hidden_word(sheet: Sheet, shown: Shown, answer: tuple[int, int], y: float, width: float) -> None:
    """The sentence of the answer, its word struck through."""
    theme, (side, at) = sheet.theme, answer
    own = shown.sides[side]
    size = next(size for size in (WORD, 28, LONG_WORD, 20) if size == 20 or placed_words(own, width, size)[-1].line < 2)
    for one in placed_words(own, width, size):
        word, base, x = one.word, y + size + one.line * 1.6 * size, MARGIN + one.x
        chosen, struck = word["kind"] == "chosen", word["at"] == at
        color = theme.sentence(own["name"]) if chosen else theme.muted if struck else theme.ink
        sheet.text(x + one.wide / 2, base, word["text"], size, color, align="center", bold=chosen)
        if chosen:
            sheet.rule(x, base + 8, x + one.wide, base + 8, color, 3)
        if struck:
            sheet.rect(
                x - 8, base - size, x + one.wide + 8, base + 0.4 * size, theme.effect[-1], opacity=0.16, what="word"
            )
            sheet.rule(x - 8, base - 0.3 * size, x + one.wide + 8, base - 0.3 * size, theme.effect[-1], 3.5)


def _way(sheet: Sheet, shown: Shown, place: Scale) -> None:
    """The line: labelled sentences, and the answer's move as an arc; without an answer A and B, each on its lane."""
    theme, data = sheet.theme, shown.data["way"]
    for side, dots in enumerate(data["dots"]):
        for dot in dots:
            shade = theme.sentence("AB"[side])
            sheet.point(place(dot["x"]), BASE, 9, shade, opacity=0.3, what="dot", value=dot["x"])
    sheet.rule(MARGIN, BASE + 24, WIDTH - MARGIN, BASE + 24, theme.grid, 1.5)
    for side, end in enumerate(data["ends"]):
        wide = text_width(end["label"], LABEL, True) / 2
        x = min(max(place(side), MARGIN + wide), WIDTH - MARGIN - wide)
        sheet.rule(place(side), BASE + 18, place(side), BASE + 30, theme.muted, 2)
        sheet.text(x, BASE + 62, end["label"], LABEL, theme.sentence("AB"[side]), align="center", bold=True)
    if shown.answer is None:
        for side in (0, 1):
            moving(sheet, shown, side, place, BASE - 60 - 50 * side)
        return
    side, at = shown.answer
    moved = without(shown, side)
    if moved is not None:
        share = percent(shown.share(side, at) or 0.0)
        _arrow(sheet, place(data["at"][side]), place(moved), theme.sentence(shown.sides[side]["name"]), share)
        for value, what in ((data["at"][side], "as it is"), (moved, f"without {shown.label(side, at)}")):
            sheet.point(place(value), BASE, 0.1, theme.muted, what=what, value=value)


def _arrow(sheet: Sheet, x: float, x2: float, hue: str, share: str) -> None:
    """From a filled dot to a hollow one, an arc that thickens, with the share above it."""
    theme, teal, top = sheet.theme, sheet.theme.effect[-1], min(110.0, 30 + 0.25 * abs(x2 - x))
    middle, radius, foot = (x + x2) / 2, (x2 - x) / 2, BASE - 18
    steps = [math.pi * step / 40 for step in range(39)]
    points = [(middle - radius * math.cos(angle), foot - top * math.sin(angle)) for angle in steps]
    for n, pair in enumerate(pairwise(points)):
        sheet.path(pair, teal, 3 + 4 * n / len(steps))
    (before, end) = points[-2:]
    turn = math.degrees(math.atan2(end[1] - before[1], end[0] - before[0])) + 90
    sheet.point(end[0], end[1], 12, teal, shape="triangle-up", turn=turn)
    sheet.text(middle, foot - top - 14, f"{share} of the distance", LABEL, teal, align="center", bold=True)
    sheet.point(x, BASE, 15, hue)
    sheet.point(x2, BASE, 13.5, theme.background, stroke=hue, line=3)
