"""Draw, as 100 marks, in how many of 100 sentences the encoder finds the right sense.

Browser version: dashboard/components/way_many.js.
"""

from selfattn import numbers
from selfattn.charts.labels import text_width
from selfattn.charts.moved_word import SMALL, TEXT, Data, wrapped
from selfattn.charts.sheet import Sheet

ROWS, PITCH, RADIUS = 5, 10.5, 4  # marks in a column; pixels between marks; mark radius
COUNT, HEADING = 18, 15.5  # letters in pixels: of rates; of the text beside them
GAP = 30  # pixels between arrays
LEAST = 260  # pixels: least width for text beside arrays


def many(sheet: Sheet, data: Data, y: float, width: float) -> float:
    """Draw `data["text"]` and, for each bar in `data["bars"]`, 100 dots. Return the y coordinate below the drawing.

    data: `beyond` of way.schema.json.
    """
    bars, theme = data.get("bars", ()), sheet.theme
    if not bars:
        return sheet.lines(0, y + TEXT, wrapped(data["text"], width, TEXT), TEXT)
    sheet.rule(0, y, width, y, theme.grid)
    y += 16
    wide = [max(100 / ROWS * PITCH, _heading(bar)) for bar in bars]
    left = width - sum(wide) - GAP * len(wide)
    beside = left >= LEAST
    text = wrapped(data["text"], left if beside else width, HEADING, bold=True)
    bottom = sheet.lines(0, y + HEADING, text, HEADING, bold=True)
    about = wrapped(data["link"]["text"], left if beside else width, SMALL)
    bottom = sheet.lines(0, bottom, about, SMALL, theme.muted)
    x, y = (left + GAP, y) if beside else (0.0, bottom)
    for bar, own in zip(bars, wide):
        if x and x + own > width + 1:
            x, y = 0.0, y + 124
        _array(sheet, data, bar, x, y)
        x += own + GAP
    return max(bottom, y + 112)


def _heading(bar: Data) -> float:
    return text_width(bar["label"], SMALL)


def _array(sheet: Sheet, data: Data, bar: Data, x: float, y: float) -> None:
    """Draw 100 dots, one for each percent of the answers: right, wrong, or lost (right only in the first bar)."""
    theme, tick, rate, first = sheet.theme, data["tick"], bar["value"], data["bars"][0]["value"]
    count = numbers.decimal(100 * rate, 0)
    sheet.text(x, y + 14, f"{count} in 100 right", COUNT, bold=True)
    sheet.text(x, y + 32, bar["label"], SMALL)
    y += 39
    looks = {
        "right": (sheet.pale(theme.ink, 0.75), sheet.pale(theme.ink, 0.75)), "wrong": (theme.background, theme.muted),
        "lost": (sheet.pale(theme.effect[-2], 0.4), theme.effect[-1]),
    }  # fmt: skip
    for n in range(100):
        what = "right" if n < round(100 * rate) else "lost" if n < round(100 * first) else "wrong"
        fill, stroke = looks[what]
        middle = x + (n // ROWS + 0.5) * PITCH, y + (n % ROWS + 0.5) * PITCH
        sheet.point(*middle, RADIUS - 0.5, fill, stroke=stroke, line=1, what=what)
    whole, foot = 100 / ROWS * PITCH, y + ROWS * PITCH
    guess = x + tick["value"] * whole
    sheet.rule(guess, y, guess, foot + 6, theme.ink, 2)
    sheet.text(
        guess,
        foot + 19,
        f"{numbers.decimal(100 * tick['value'], 0)} {tick['label']}",
        SMALL,
        theme.muted,
        align="center",
    )
    fewer = round(100 * first) - round(100 * rate)
    if fewer > 0:
        sheet.text(x + whole, foot + 19, f"{fewer} fewer", SMALL, theme.effect[-1], align="right")
