"""A head's steps for one word in two sentences, as one figure that steps in the browser.

Buttons beneath the figure (and their arrow keys) light one step and its lines of the kernel. The token under the cursor
is lit in every step. Neither runs anything on the server.
"""

import ast
import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from selfattn import kernel, numbers
from selfattn.charts.labels import label_axis
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, calculate, either, field, finish, marks, nominal, span
from selfattn.lessons.kernel_source import source

Table = Mapping[str, Sequence]  # a frame, or its columns as lists
ROW = 18  # pixels a token
WIDTH = 116  # of a step's bars, beside their tokens
PALE = 0.3  # of what comes after the step that is lit
TITLES = {"scores": "scores = QKᵀ", "share": "share of weights × V"}  # of the other steps the name says it
STEPS = ("scores", "scaled", "masked", "weights", "share", "context")  # between "scaled" and "masked" a family's terms
WRITE = {"weights": numbers.weight, "share": numbers.share}
UNCHANGED = "changes nothing here"


def kernel_steps(steps: Table, context: Table, theme: Theme) -> Spec:
    """tidy_tables.steps_columns and context_columns of sentences "A" and "B": a column a step, A above B on one scale."""
    columns, before, high = [], None, {}
    parts_of = _parts(steps, "step")
    order = (*parts_of, "context")
    for at, (step, rows) in enumerate(parts_of.items(), start=1):
        values = [row["value"] for row in rows]
        same, before, domain = values == before, values, _domain(values)
        parts = _parts(rows, "sentence")
        high = {name: ROW * len(part) for name, part in parts.items()}
        columns.append({"vconcat": [_bars(step, at, part, theme, domain, same) for part in parts.values()]})
    domain = _domain(context["value"])
    vectors = _parts(context, "sentence").values()
    last = len(order)
    columns.append({"vconcat": [_vector(part, last, theme, domain, high) for part in vectors]})
    lit = [view["layer"][0]["name"] for column in columns[:-1] for view in column["vconcat"]]
    token = {"type": "point", "on": "pointerover", "clear": "pointerout", "fields": ["sentence", "key_pos"]}
    labels = [title(step, at).split(" =")[0] for at, step in enumerate(order, start=1)]
    buttons = {"input": "radio", "options": list(range(1, last + 1)), "labels": labels, "name": "Step "}
    params = [{"name": "shown", "value": last, "bind": buttons}, {"name": "token", "select": token, "views": lit}]
    return finish({"params": params, "vconcat": [{"hconcat": columns, "spacing": 14}, _code(theme, order)]}, theme)


def title(step: str, at: int) -> str:
    """A step's title, with its place among the steps."""
    return f"{at} {TITLES.get(step, step)}"


@cache
def code_lines(order: tuple[str, ...] = STEPS) -> list[dict]:
    """The kernel's lines with the first and the last step, of these from 1, in which each is lit: line, text, first, last."""
    lines, number = [], {step: at for at, step in enumerate(order, start=1)}
    number |= {"scale": number["scaled"]}
    # The terms are added where the mask is, and the context is the shares' sum.
    first = {"masked": number["scaled"] + 1, "context": number["share"]}
    for text in source(kernel.attend).splitlines():
        name = text.split("=")[0].strip()
        if not text.startswith("    ") or text.startswith("     ") or not name.isidentifier():
            continue
        # From the row's maximum to the division all is softmax.
        last = number.get(name, number["weights"])
        text = ast.unparse(ast.parse(text.strip()))  # without its comment
        lines.append({"line": len(lines), "text": text, "first": first.get(name, last), "last": last})
    return lines


def _parts(rows: Table | list[Spec], column: str) -> dict[str, list[Spec]]:
    """The rows as records, by a column's values in their order: plain lists, since this is drawn at every choice of a head."""
    if not isinstance(rows, list):
        rows = [dict(zip(rows, row)) for row in zip(*(rows[name] for name in rows))]
    parts: dict[str, list[Spec]] = {}
    for row in rows:
        parts.setdefault(row[column], []).append(row)
    return parts


def _domain(values: Sequence[float]) -> tuple[float, float]:
    """From the smallest to the largest number, zero included, with room for the number at a bar's end."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min([0.0, *finite]), max([0.0, *finite])
    room = 0.42 * ((high - low) or 1.0)
    return low - (room if low < 0 else 0.0), high + (room if high > 0 or low == 0 else 0.0)


def _bars(step: str, at: int, rows: list[Spec], theme, domain, same) -> Spec:
    write = WRITE.get(step, numbers.decimal)
    name, tokens = rows[0]["sentence"], [row["key"] for row in rows]
    values = [row["value"] if math.isfinite(row["value"]) else None for row in rows]
    rows = [
        {**row, "value": value, "place": place, "text": write(row["value"]), "end": max(0.0, value or 0.0)}
        for place, (row, value) in enumerate(zip(rows, values))
    ]
    axis = label_axis(tokens, labelLimit=64, labelFontSize=11, labelPadding=3)
    y = field("place", scale=span(-0.5, len(rows) - 0.5, reverse=True), axis=axis)
    band = {"y": {**y, "field": "top"}, "y2": {"field": "bottom"}}
    shade = _where_lit(at)
    tooltip = [nominal("sentence"), nominal("key", title="token"), nominal("text", title=step)]
    bar = {**band, "x": field("value", scale=span(*domain), axis=None), "x2": {"datum": 0}, "tooltip": tooltip}
    row = {
        **band,
        "tooltip": tooltip,
        "opacity": {"condition": {"param": "token", "empty": False, "value": 1}, "value": 0},
    }
    text = {"y": y, "x": field("end", scale=span(*domain), axis=None), "text": nominal("text")}
    whole = calculate(top="datum.place - 0.5", bottom="datum.place + 0.5")
    inside = calculate(top="datum.place - 0.36", bottom="datum.place + 0.36")
    return {
        "data": {"values": rows},
        "title": _title(step, at, name, theme, same),
        "layer": [
            {"name": f"{step}_{name}".replace(" ", "_"), **marks("rect", row, "", whole, color=theme.grid)},
            marks("rect", bar, "", inside, color=theme.sentence(name), opacity=shade, cornerRadius=1),
            marks("text", text, align="left", dx=3, fontSize=10, color=theme.muted, opacity=shade),
        ],
        "width": WIDTH,
        "height": ROW * len(rows),
    }  # fmt: skip


def _vector(rows: list[Spec], at: int, theme, domain, high) -> Spec:
    name = rows[0]["sentence"]
    y = field("dimension", scale=span(0, len(rows), reverse=True), axis=None)
    encoding = {
        "y": y,
        "y2": {"field": "end"},
        "x": field("value", scale=span(*domain), axis=None),
        "x2": {"datum": 0},
        "tooltip": [nominal("sentence"), field("dimension"), field("value", format=".4~g")],
    }
    end = calculate(end="datum.dimension + 0.8")
    return {
        "data": {"values": rows},
        "title": _title("context", at, name, theme, False),
        **marks("rect", encoding, "", end, color=theme.sentence(name), opacity=_where_lit(at)),
        "width": WIDTH,
        "height": high[name],
    }


def _title(step: str, at: int, name: str, theme: Theme, same: bool) -> Spec:
    text = title(step, at) if name == "A" else ""
    lines = {"subtitle": UNCHANGED if same and name == "A" else "", "subtitleFontSize": 11}
    color = {"expr": f"shown == {at} ? '{theme.ink}' : '{theme.muted}'"}
    return {"text": text, **lines, "fontSize": 12, "color": color, "anchor": "start"}


def _where_lit(at: int) -> Spec:
    return {"expr": f"shown >= {at} ? 1 : {PALE}"}


def _code(theme: Theme, order: tuple[str, ...]) -> Spec:
    now = "shown >= datum.first && shown <= datum.last"
    lit, ink = either(now, 1, 0), either(now, theme.ink, theme.muted)
    return code_view(code_lines(order), "line", "The kernel's own lines", 620, lit, ink, color=theme.grid)


def code_view(
    rows: list[dict], place: str, title: str, width: int, lit: Spec, ink: Spec, size: int | Spec = 12, **look: Any
) -> Spec:
    """Lines of code one beneath the other, a row each: its `text`, and its number from 0 in the column `place`.

    lit, ink: the channels for how much of the band behind a line is seen (of this look), and for the line's colour. size:
    of its letters, in pixels.
    """
    y = field(place, scale=span(-0.5, len(rows) - 0.5, reverse=True), axis=None)
    x = {"datum": 0.0, "type": "quantitative", "scale": span(0, 1), "axis": None}
    band = {"y": {**y, "field": "top"}, "y2": {"field": "bottom"}, "opacity": lit}
    text = {"y": y, "x": x, "text": nominal("text"), "color": ink}
    whole = calculate(top=f"datum.{place} - 0.5", bottom=f"datum.{place} + 0.5")
    return {
        "name": "code",
        "data": {"values": rows},
        "title": {"text": title, "fontSize": 12},
        "layer": [
            marks("rect", band, "", whole, **look),
            marks("text", text, align="left", dx=6, fontSize=size, font="monospace"),
        ],
        "width": width,
        "height": ROW * len(rows),
    }
