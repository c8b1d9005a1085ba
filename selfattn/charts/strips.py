"""Vectors as strips of coloured cells, and one product of two vectors written out, term by term."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from selfattn import numbers
from selfattn.charts.labels import drawable
from selfattn.charts.sheet import AROUND, Sheet
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, calculate, field, layered, marks, nominal, scale

WIDTH = 470  # pixels
LEFT, CELL, STEP, TITLE = 24, 16, 20, 32  # of the names, a strip, from strip to strip, a group's title
ROW = 24  # of a term
FACTORS, PRODUCT = 4, 3  # decimals


@dataclass(frozen=True)
class Strip:
    """One vector."""

    name: str  # at its left: "A"
    values: Sequence[float]
    color: str  # of the name
    end: str = ""  # at its right: its length


def strips(
    groups: Sequence[tuple[str, Sequence[Strip]]],
    theme: Theme,
    *,
    together: bool = False,
    marked: tuple[int, int] | None = None,
    width: int = WIDTH,
) -> Spec:
    """Draw vectors, each a strip with a cell a number, red below 0 and blue above; those of a group beneath one title.

    The deepest colour is a group's largest number, or with `together` the largest of all. marked: a group by its
    number, and a dimension to outline in its strips.
    """
    right = width - (56 if any(strip.end for _, own in groups for strip in own) else 0)
    largest = [max(abs(value) for strip in own for value in strip.values) or 1.0 for _, own in groups]
    cells, texts, outlined, places, y = [], [], [], [], 0.0
    for at, (title, own) in enumerate(groups):
        texts.append({"x": LEFT, "y": y + TITLE - 20, "text": title, "color": theme.muted, "align": "title"})
        y += TITLE - 6
        for strip in own:
            n, middle = len(strip.values), y + CELL / 2
            cells += [{"strip": len(places), "i": i, "v": float(f"{v:.6g}")} for i, v in enumerate(strip.values)]
            places.append((y, (right - LEFT) / n, max(largest) if together else largest[at]))
            texts.append({"x": LEFT - 8, "y": middle, "text": strip.name, "color": strip.color, "align": "name"})
            texts.append({"x": right + 6, "y": middle, "text": strip.end, "color": theme.ink, "align": "end"})
            if marked and marked[0] == at:
                ends = {"x": LEFT + marked[1] * (right - LEFT) / n, "x2": LEFT + (marked[1] + 1) * (right - LEFT) / n}
                outlined.append({**ends, "y": y - 1, "y2": y + CELL + 1})
            y += STEP
    x = field("x", axis=None, scale={"domain": [0, width], "nice": False})
    down = field("y", axis=None, scale={"domain": [0, y], "nice": False, "reverse": True})
    place, box = {"x": x, "y": down}, {"x": x, "y": down, "x2": {"field": "x2"}, "y2": {"field": "y2"}}
    tops, widths, most = (f"{[each[at] for each in places]}[datum.strip]" for at in range(3))
    edges = calculate(
        x=f"{LEFT} + datum.i * {widths}",
        x2=f"datum.x + {widths}",
        y=tops,
        y2=f"datum.y + {CELL}",
        part=f"datum.v / {most}",
    )
    tooltip = [field("i", title="dimension"), field("v", title="value", format=numbers.FINE)]
    shade = field("part", scale=scale(theme, "signed", 1.0), legend=None)
    layers = [marks("rect", {**box, "color": shade, "tooltip": tooltip}, "cells", edges)]
    layers.append(marks("rect", box, "marked", fillOpacity=0, stroke=theme.ink, strokeWidth=1.5))
    for name, align, look in (("title", "left", {}), ("name", "right", {"fontWeight": 600}), ("end", "left", {})):
        text = {**place, "text": nominal("text"), "color": nominal("color", scale=None)}
        layers.append(
            marks(
                "text",
                text,
                "texts",
                [{"filter": {"field": "align", "equal": name}}],
                align=align,
                fontSize=13,
                **look,
            )
        )
    datasets = {"cells": cells, "marked": outlined, "texts": [text for text in texts if text["text"]]}
    return layered(layers, datasets, theme, width, y, padding=AROUND)


def product(terms: pd.DataFrame, rest: float, bias: float | None, names: Sequence[str], theme: Theme) -> Spec:
    """Draw a sum of products: a line for each of `terms`, one for the rest, one for the bias, and their sum.

    terms: columns dimension, first, second, product. rest: what the products that aren't drawn add up to. names: of the first
    factor, the second, the rest and the sum.
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
