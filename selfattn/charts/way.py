"""Draw the main view, "A word in two sentences", as one picture."""

import math
from collections.abc import Sequence
from itertools import pairwise

from selfattn import numbers
from selfattn.charts.flow import sentences
from selfattn.charts.labels import isolated_words, text_width
from selfattn.charts.landscape import landscape
from selfattn.charts.many import many
from selfattn.charts.moved_word import GAP, NARROW, SMALL, TEXT, Data, Shown, finding, percent, row, wrapped
from selfattn.charts.sheet import NONE, Sheet
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec

WIDTH = 1100  # pixels, the default
FINDING, TITLE = (24, 22, 20), 15  # letters in pixels: the first that fits on one line; of titles
WRITTEN = 0.05  # smallest effect or weight printed
VISIBLE = 0.015  # the legend explains brown if a negative effect is at least this large
CELL = 30  # pixels: largest cell height
WEIGHTS = 1000  # weights in the data are in 1/1000


def way(data: Data, theme: Theme, width: int | None = None) -> Spec:
    """Draw the main view `width` pixels wide, in one column if `width` is under 760."""
    shown, sheet, width = Shown(data), Sheet(theme), width or WIDTH
    y = finding(sheet, shown, width, FINDING if width >= NARROW else FINDING[-1:]) + TEXT + 2
    for line in data["below"]:
        y = sheet.lines(0, y, wrapped(line, width, TEXT), TEXT)
    if any((word["share"] or 0) > 0 for side in data["sides"] for word in side["words"]):
        key = f'The wider the ribbon of a word, the further "{data["word"]}" moves without that word.'
        y = sheet.lines(0, y + 3, wrapped(key, width, TEXT), TEXT, theme.muted)
    y, starts = sentences(sheet, shown, y, width)
    if data["way"]:
        y = landscape(sheet, shown, y, width, starts)
    y = many(sheet, data["beyond"], y + 18, width)
    if any(side["weights"] for side in data["sides"]):
        y = _draw_heads(sheet, shown, y + 32, width)
    return sheet.drawn(width, math.ceil(y))


def _draw_heads(sheet: Sheet, shown: Shown, y: float, width: float) -> float:
    """Draw the map of heads, and one head's attention weights."""
    one_column = width < NARROW
    left = width if one_column else 0.53 * (width - GAP)
    below = _map(sheet, shown, y, left)
    x, top = (0.0, below + 28) if one_column else (left + GAP, y)
    return max(below, _bars(sheet, shown, x, top, width - x))


def _map(sheet: Sheet, shown: Shown, y: float, width: float) -> float:
    theme, heads = sheet.theme, shown.data["heads"]
    if shown.first is None or heads["reason"]:
        sheet.text(0, y + TITLE, "Through which heads", TITLE, bold=True)
        reason = heads["reason"] or "no word is hidden."
        return sheet.lines(0, y + TITLE + 24, wrapped(f"Not known: {reason}", width, TEXT), TEXT, theme.muted)
    side, at = shown.first
    word = shown.label(side, at)
    title, how = f"Hide {word} in one head alone", f'a cell: how much of the way "{shown.data["word"]}" then moves'
    base = sheet.lines(0, y + TITLE, wrapped(title, width, TITLE, True), TITLE, bold=True)
    base = sheet.lines(0, base - 2, [how if shown.exact else f"{how}, by gradient"], SMALL, theme.muted)
    columns, margin = heads["heads"], 28
    step, down = (width - margin) / columns, min(CELL, 300 / heads["layers"])
    top = base + 14
    every = 1 if step >= 24 else 2 if step >= 13 else 4
    most = max([0.05, *(abs(share) for share in shown.cells if share is not None)])
    for head in range(0, columns, every):
        sheet.text(margin + (head + 0.5) * step, top - 5, str(head), SMALL - 1, theme.muted, align="center")
    for layer in range(heads["layers"]):
        if layer % (1 if down >= 12 else 2) == 0:
            sheet.text(margin - 8, top + (layer + 0.5) * down + 4, f"L{layer}", SMALL - 1, theme.muted, align="right")
    for n, share in enumerate(shown.cells):
        _cell(sheet, n, share, most, (margin + n % columns * step, top + n // columns * down, step, down))
    n = shown.data["chosen"]["head"]
    x, cell_y = margin + n % columns * step, top + n // columns * down
    sheet.rect(x, cell_y, x + step, cell_y + down, NONE, stroke=theme.ink, line=2)
    lines = [
        f"With the word hidden in all {len(shown.cells)} heads at once, the move is "
        f"{percent(shown.share(side, at) or 0.0)} of the way."
    ]
    if min((share for share in shown.cells if share is not None), default=0.0) <= -VISIBLE:
        other = "sense" if (shown.data["way"] or {}).get("between") == "senses" else "sentence"
        lines.append(f"Brown: the word moves away from the other {other}.")
    text = wrapped(" ".join(lines).strip(), width, TEXT)
    return sheet.lines(0, top + heads["layers"] * down + 22, text, TEXT, theme.muted)


def _cell(sheet: Sheet, n: int, share: float | None, most: float, box: tuple[float, float, float, float]) -> None:
    theme, (x, y, wide, high) = sheet.theme, box
    part = 0.0 if share is None else share / most
    hue = theme.effect[-1] if part >= 0 else theme.effect[0]
    sheet.rect(x + 1, y + 1, x + wide - 1, y + high - 1, theme.grid, opacity=0.45)
    sheet.rect(
        x + 1, y + 1, x + wide - 1, y + high - 1, hue, opacity=round(abs(part), 3), what="head", n=n, value=share
    )
    if share is not None and abs(share) >= WRITTEN and text_width("00 %", 11) < wide and high >= 14:
        color = theme.background if abs(part) > 0.55 else theme.ink
        sheet.text(x + wide / 2, y + high / 2 + 4, percent(share), 11, color, align="center")


def _bars(sheet: Sheet, shown: Shown, left: float, y: float, width: float) -> float:
    """Draw a bar for each attention weight of the head that is outlined in the map."""
    theme, heads, word = sheet.theme, shown.data["heads"], shown.data["word"]
    n = shown.data["chosen"]["head"]
    layer, head = divmod(n, heads["heads"])
    title = f'Head {head} of layer {layer}: what "{word}" attends to'
    base = sheet.lines(left, y + TITLE, wrapped(title, width, TITLE, True), TITLE, bold=True)
    habit = heads["habits"].get(str(n))
    said = f"attention weight; this head {habit}" if habit else "attention weight"
    y = sheet.lines(left, base - 2, wrapped(said, width, SMALL), SMALL, theme.muted)
    first = shown.first[0] if shown.first else 0
    rows = {side: row(shown.sides[side]["weights"][n], WEIGHTS) for side in (first, 1 - first)}
    most = max([0.1, *(weight or 0.0 for own in rows.values() for weight in own)])
    for place, (side, weights) in enumerate(rows.items()):
        y = _bars_of(sheet, shown, side, weights, most, (left, y + (4 if place == 0 else 12), width), light=place > 0)
    return y


def _bars_of(
    sheet: Sheet,
    shown: Shown,
    side: int,
    weights: Sequence[float | None],
    most: float,
    room: tuple[float, float, float],
    light: bool,
) -> float:
    theme, own, (left, y, width) = sheet.theme, shown.sides[side], room
    sheet.text(left, y + 62, own["name"], TEXT, theme.sentence(own["name"]), bold=True)
    left, width = left + 22, width - 22
    step, foot = width / max(1, len(weights)), y + 62
    labels = [isolated_words(token["text"]) for token in own["tokens"]]
    flat = next((size for size in (SMALL, 11, 10.5) if _fits(labels, size, step)), 0.0)
    turned = 0 if flat else 45 if step >= 14 else 90
    largest = max(range(len(weights)), key=lambda at: weights[at] or 0.0, default=0)
    for at, (weight, token) in enumerate(zip(weights, own["tokens"])):
        x, value = left + at * step, weight or 0.0
        color = theme.weights[2] if light else theme.weights[4 if theme.name == "light" else 3]
        high = max(1.0, 46 * value / most)
        half = min(step * 0.36, 20)
        middle = x + step / 2
        sheet.rect(
            middle - half, foot - high, middle + half, foot, theme.muted if token["special"] else color,
            opacity=0.5 if token["special"] else 1, what=f"weight {own['name']}", n=at, value=weight,
        )  # fmt: skip
        if value >= WRITTEN and (step >= 28 or at == largest):
            sheet.text(middle, foot - high - 4, numbers.decimal(value), 11, theme.ink, align="center")
        hue = theme.sentence(own["name"]) if token["chosen"] else theme.muted if token["special"] else theme.ink
        look = {"bold": token["chosen"], "angle": -turned}
        if flat:
            sheet.text(middle, foot + 15, labels[at], flat, hue, align="center", **look)
        elif turned == 45:
            sheet.text(middle + 4, foot + 12, labels[at], SMALL - 1, hue, align="right", **look)
        else:
            sheet.text(middle + 0.35 * step, foot + 5, labels[at], step - 1.5, hue, align="right", **look)
    longest = max(text_width(label, SMALL) for label in labels)
    return foot + (20 if flat else 14 + (0.72 if turned == 45 else 1.0) * min(longest, 120))


def _fits(labels: Sequence[str], size: float, step: float) -> bool:
    """Return True if labels don't touch when their centres are `step` pixels apart."""
    wide = [text_width(label, size) for label in labels]
    return all((one + other) / 2 + 5 <= step for one, other in pairwise(wide))
