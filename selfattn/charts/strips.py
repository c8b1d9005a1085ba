"""Draw vectors as strips (rows of coloured cells), and a dot product term by term."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from selfattn import numbers
from selfattn.charts.labels import drawable
from selfattn.charts.sheet import NONE, Sheet
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, calculate, field, marks, scale

WIDTH = 470  # pixels
LEFT, CELL = 24, 16  # pixels: the width of the names; the height of a strip
STEP, TITLE = 20, 32  # pixels: the height of a strip with its gap; of a group's title
ROW = 24  # pixels: the height of a term's line
FACTORS, PRODUCT = 4, 3  # decimals of a term's factors; of a term's product


@dataclass(frozen=True)
class Strip:
    """A vector that is drawn as a row of coloured cells."""

    name: str  # left of the strip: "A"
    values: Sequence[float]
    color: str  # the colour of the name
    end: str = ""  # right of the strip: the vector's length


def strips(
    groups: Sequence[tuple[str, Sequence[Strip]]],
    theme: Theme,
    *,
    together: bool = False,
    marked: tuple[int, int] | None = None,
) -> Spec:
    """Draw groups of vectors as strips of coloured cells, with a title above each group.

    together: True if all groups share one colour scale. marked: the index of a group, and of the dimension to outline in it.
    """
    right = WIDTH - (56 if any(strip.end for _, group in groups for strip in group) else 0)
    largest = [max(abs(value) for strip in group for value in strip.values) or 1.0 for _, group in groups]
    sheet, cells, y = Sheet(theme), [], 0.0
    places = []  # top, width of a cell, and the number with the deepest colour, for each strip
    for at, (title, group) in enumerate(groups):
        sheet.text(LEFT, y + TITLE - 14, title, color=theme.muted)
        y += TITLE - 6
        for strip in group:
            cell, base = (right - LEFT) / len(strip.values), y + 13
            cells += [{"strip": len(places), "i": i, "v": float(f"{v:.6g}")} for i, v in enumerate(strip.values)]
            places.append((y, cell, max(largest) if together else largest[at]))
            sheet.text(LEFT - 8, base, strip.name, color=strip.color, align="right", bold=True)
            sheet.text(right + 6, base, strip.end)
            if marked and marked[0] == at:
                x = LEFT + marked[1] * cell
                sheet.rect(x, y - 1, x + cell, y + CELL + 1, NONE, stroke=theme.ink, line=1.5)
            y += STEP
    spec = sheet.drawn(WIDTH, y)
    tops, widths, most = (f"{[each[at] for each in places]}[datum.strip]" for at in range(3))
    edges = {"x": f"{LEFT} + datum.i * {widths}", "x2": f"datum.x + {widths}", "y": tops, "y2": f"datum.y + {CELL}"}
    encoding = {key: spec["layer"][0]["encoding"][key] for key in edges} | {
        "color": field("part", scale=scale(theme, "signed", 1.0), legend=None),
        "tooltip": [field("i", title="dimension"), field("v", title="value", format=numbers.FINE)],
    }
    spec["layer"].insert(0, marks("rect", encoding, "cells", calculate(**edges, part=f"datum.v / {most}")))
    spec["datasets"]["cells"] = cells
    return spec


def product(terms: pd.DataFrame, rest: float, bias: float | None, names: Sequence[str], theme: Theme) -> Spec:
    """Draw a sum of products, line by line.

    terms: columns dimension, first, second, product. rest: the sum of all other products.
    names: the names of both factors, of the rest and of the whole sum.
    """
    first, second, others, whole = map(drawable, names)
    lines = [
        (str(row.dimension), numbers.decimal(row.first, FACTORS), numbers.decimal(row.second, FACTORS), row.product)
        for row in terms.itertuples()
    ]
    lines += [(others, "", "", rest)] + ([] if bias is None else [("bias", "", "", bias)])
    total = float(terms["product"].sum()) + rest + (bias or 0.0)
    most = max(abs(value) for *_, value in [*lines, ("", "", "", total)]) or 1.0
    sheet, zero, half = Sheet(theme), WIDTH - 76, 70
    for x, title in ((44, "number"), (130, first), (238, second), (300, "product")):
        sheet.text(x, 14, title, 13, theme.muted, align="right" if x < 300 else "left")
    y = 14.0
    for name, left, right, value in lines:
        y += ROW
        sheet.text(44 if left else 238, y, name, align="right")
        if left:
            sheet.text(130, y, left, align="right")
            sheet.text(148, y, "×", color=theme.muted, align="center")
            sheet.text(238, y, right, align="right")
        _bar(sheet, y, value, zero, half / most, theme)
    y += 10
    sheet.rule(0, y, WIDTH, y, theme.muted)
    y += ROW - 4
    sheet.text(238, y, whole, align="right", bold=True)
    _bar(sheet, y, total, zero, half / most, theme, bold=True)
    return sheet.drawn(WIDTH, y + 8)


def _bar(sheet: Sheet, y: float, value: float, zero: float, unit: float, theme: Theme, *, bold: bool = False) -> None:
    sheet.text(252, y, "=", color=theme.muted, align="center")
    sheet.text(312, y, numbers.decimal(value, PRODUCT), align="right", bold=bold)
    ends = sorted((zero, zero + unit * value))
    sheet.rect(ends[0], y - 12, ends[1], y + 2, theme.signed[-1] if value > 0 else theme.signed[0], value=value)
