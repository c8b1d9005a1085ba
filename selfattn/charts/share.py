"""Draw a picture to share, 1200 x 675: the finding, the sentence with the hidden word, and how far the chosen word moves."""

import math
from itertools import pairwise

from selfattn.charts.labels import text_width
from selfattn.charts.moved_word import Data, Scale, Shown, pads, placed_words, scale_of, without, wrapped
from selfattn.charts.sheet import Sheet
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec

WIDTH, HEIGHT, MARGIN = 1200, 675, 70
LABEL, FOOT = 22, 17  # pixels of letters
# Pixels of letters for the finding, one sentence, and both sentences. The first size that fits is used.
FINDING, ONE, BOTH = (38, 32, 27, 22), (40, 32, 25, 20), (30, 25, 20, 17)
BASE, RADIUS = 505, 16  # pixels: the y of the dots; the radius of A's and B's dots


def share(data: Data, theme: Theme) -> Spec:
    """Draw the picture from the data of the component `way`."""
    shown, sheet = Shown(data), Sheet(theme)
    across = WIDTH - 2 * MARGIN
    size = next((size for size in FINDING if len(_lines(data, across, size)) < 3), FINDING[-1])
    y = sheet.lines(MARGIN, MARGIN + 0.6 * size, _lines(data, across, size), size, bold=True) - size + 30
    for side in [shown.answer[0]] if shown.answer else [0, 1]:
        y = _sentence(sheet, shown, side, y, across) + 4
    if data["way"]:
        _way(sheet, shown, scale_of(shown, MARGIN + 60, WIDTH - MARGIN - 60))
    counts = sum(end["count"] for end in data["way"]["ends"]) if data["way"] else 0
    dots = f'Each dot: "{data["word"]}" in one of {counts} other sentences. ' if counts else ""
    sheet.text(MARGIN, HEIGHT - 32, f"{dots}Encoder: {data['encoder']}, last layer.", FOOT, theme.muted)
    sheet.text(WIDTH - MARGIN, HEIGHT - 32, "selfattn", FOOT, theme.ink, align="right", bold=True)
    return {**sheet.drawn(WIDTH, HEIGHT), "padding": 0}


def _lines(data: Data, width: float, size: float) -> list[str]:
    """Split the finding into as few lines as possible, with about equal lengths."""
    least = len(wrapped(data["finding"], width, size, bold=True))
    widths = (width * part / 20 for part in range(8, 21))
    return next(lines for own in widths if len(lines := wrapped(data["finding"], own, size, bold=True)) == least)


def _sentence(sheet: Sheet, shown: Shown, side: int, y: float, width: float) -> float:
    """Draw a sentence, with the finding's hidden word struck out or, if there is none, with "A" or "B". Return the y beneath."""
    theme, own = sheet.theme, shown.sides[side]
    hue, teal, left = theme.sentence(own["name"]), theme.effect[-1], MARGIN + (0 if shown.answer else 48)
    width -= left - MARGIN
    sizes = ONE if shown.answer else BOTH
    size = next((size for size in sizes if placed_words(own, width, size)[-1].line < 2), sizes[-1])
    words = placed_words(own, width, size)
    if not shown.answer:
        sheet.point(MARGIN + 16, y + 0.68 * size, RADIUS, hue)
        _letter(sheet, MARGIN + 16, y + 0.68 * size, own["name"])
    for n, one in enumerate(words):
        word, base, x = one.word, y + size + one.line * 1.5 * size, left + one.x
        chosen, struck = word["kind"] == "chosen", shown.answer == (side, word["at"])
        color = hue if chosen else theme.muted if struck else theme.ink
        sheet.text(x + one.wide / 2, base, word["text"], size, color, align="center", bold=chosen)
        if chosen:
            sheet.rule(x, base + 8, x + one.wide, base + 8, hue, 3)
        if struck:
            before, after = pads(words, n, own["dir"], 8)
            x, x2, middle = x - before, x + one.wide + after, base - 0.3 * size
            sheet.rect(x, base - size, x2, base + 0.4 * size, teal, opacity=0.16, what="word", value=word["share"])
            sheet.rule(x, middle, x2, middle, teal, 3.5)
    return y + (words[-1].line + 1) * 1.5 * size + 8


def _letter(sheet: Sheet, x: float, y: float, name: str) -> None:
    sheet.text(x, y + 6, name, 17, sheet.theme.background, align="center", bold=True)


def _way(sheet: Sheet, shown: Shown, place: Scale) -> None:
    """Draw the way with labelled sentences and an arc for the finding's move; without such a move, draw A and B as they are."""
    theme, data = sheet.theme, shown.data["way"]
    hues = [theme.sentence(name) for name in "AB"]
    for dots, hue in zip(data["dots"], hues):
        for dot in dots:
            sheet.point(place(dot["x"]), BASE, 9, hue, opacity=0.3, what="dot", value=dot["x"])
    sheet.rule(MARGIN, BASE + 24, WIDTH - MARGIN, BASE + 24, theme.grid, 1.5)
    for x, end, hue in zip((place(0), place(1)), data["ends"], hues):
        sheet.rule(x, BASE + 18, x, BASE + 30, theme.muted, 2)
        _label(sheet, x, BASE + 62, end["label"], hue)
    for side in (0, 1) if shown.answer is None else (shown.answer[0],):
        here, moved = data["at"][side], without(shown, side)
        if shown.answer and moved is not None:
            said = f"without {shown.label(*shown.answer)}"
            _arrow(sheet, place(here), place(moved), said)
            sheet.point(
                place(moved), BASE, RADIUS - 1.5, theme.background, stroke=hues[side], line=3, what=said, value=moved
            )
        sheet.point(place(here), BASE, RADIUS, hues[side], what="AB"[side], value=here)
        if shown.answer is None:
            _letter(sheet, place(here), BASE, "AB"[side])


def _arrow(sheet: Sheet, x: float, x2: float, said: str) -> None:
    """Draw an arc from x to x2 that grows thicker toward x2, with a text above."""
    teal, top = sheet.theme.effect[-1], min(130.0, 40 + 0.25 * abs(x2 - x))
    middle, radius, foot = (x + x2) / 2, (x2 - x) / 2, BASE - 20
    steps = [math.pi * step / 40 for step in range(39)]
    points = [(middle - radius * math.cos(angle), foot - top * math.sin(angle)) for angle in steps]
    for n, pair in enumerate(pairwise(points)):
        sheet.path(pair, teal, 3 + 4 * n / len(steps))
    before, end = points[-2:]
    turn = math.degrees(math.atan2(end[1] - before[1], end[0] - before[0])) + 90
    sheet.point(*end, 12, teal, shape="triangle-up", turn=turn)
    _label(sheet, middle, foot - top - 14, said, teal)


def _label(sheet: Sheet, x: float, y: float, text: str, color: str) -> None:
    """Write a text centred on x, but inside the margins."""
    half = text_width(text, LABEL, True) / 2
    sheet.text(max(MARGIN + half, min(x, WIDTH - MARGIN - half)), y, text, LABEL, color, align="center", bold=True)
