"""How a head computes a word's row: one table, a line a word, from score to what is handed over, beside the kernel's lines.

Buttons beneath it (and their arrow keys) light one step and its lines of the kernel; a line under the cursor is lit. Neither
runs anything on the server.
"""

import functools
import math
import textwrap
from collections.abc import Callable
from typing import Any

import pandas as pd

from selfattn import numbers
from selfattn.charts.code_view import code_view, indented, kernel_lines
from selfattn.charts.theme import Theme
from selfattn.charts.two_widths import the_window
from selfattn.charts.vega import Spec, either, field, finish, marks, nominal, span

STEPS = {  # column of the rows: its title, what makes it, what a button says
    "score": ("score", "QKᵀ", "score"),
    "masked": ("masked", "/√d, mask", "mask"),
    "weight": ("weight", "softmax", "weight"),
    "share": ("handed over", "weight × V", "handed over"),
}
# Of these which one a line of the kernel is part of, by what it makes; the others are softmax.
MAKES = {"scores": 1, "scale": 2, "scaled": 2, "masked": 2, "context": 4}
PALE = 0.3  # of what comes after the step that is lit
MOST = 24  # words of a sentence
PART, GAP = 326, 34  # pixels: of a sentence's table and of the kernel's lines, and between them
LINE, HEAD = 20, 36  # pixels: a word, the titles
LETTER, NUMBER = 16, 42  # pixels: before a word, and beside a bar
LAST = 0.3  # of a column: what the last one has more, for its title
Row = dict[str, Any]  # of tidy_tables.row_frame
SMALL, LETTERS = 10, 52  # of the kernel's lines beneath the table: the letters' size, and how many stand in a line


def kernel_row(rows: pd.DataFrame, theme: Theme) -> Spec:
    """tidy_tables.row_frame of one sentence or two, beside each other and the kernel's lines, or one beneath the other where the
    window is narrow; of long ones the words of the largest weights."""
    sentences: dict[str, list[Row]] = {}
    for row in rows.to_dict("records"):  # a page draws it anew for each head: in pandas this took four times as long
        sentences.setdefault(row["sentence"], []).append(row)
    kept = {name: most_weight(own) for name, own in sentences.items()}
    every = [row for own in kept.values() for row in own]
    tables = [_table(own, every, len(sentences[name]), theme) for name, own in kept.items()]
    labels = [button for *_, button in STEPS.values()]
    buttons = {"input": "radio", "options": list(range(1, len(labels) + 1)), "labels": labels, "name": "Step "}
    over = {"type": "point", "on": "pointerover", "clear": "pointerout", "fields": ["sentence", "place"]}
    params = [
        *the_window(),
        {"name": "shown", "value": len(labels), "bind": buttons},
        {"name": "word", "select": over, "views": [f"row_{name}" for name in kept]},
    ]
    parts = [*tables, _code(theme)]
    beside = f"max(1, min({len(parts)}, floor((room + {GAP}) / {PART + GAP})))"
    return finish({"params": params, "concat": parts, "columns": {"signal": beside}, "spacing": GAP}, theme)


def most_weight(rows: list[Row]) -> list[Row]:
    """A sentence's rows of the words of the largest weights, in their order; the word itself is always one."""
    first = sorted(range(len(rows)), key=lambda at: -math.inf if rows[at]["chosen"] else -rows[at]["weight"])
    return [rows[at] for at in sorted(first[:MOST])]


def _table(kept: list[Row], every: list[Row], n: int, theme: Theme) -> Spec:
    """A sentence's table of the rows that are `kept` of its n. every: those of both sentences, which stand on one scale."""
    width, sentence = PART, kept[0]["sentence"]
    longest = max(len(row["text"]) for row in every)
    words = min(max(LETTER + 7 * longest + 6, 64), 0.28 * width)
    column = (width - words) / (len(STEPS) + LAST)
    left = {step: words + at * column for at, step in enumerate(STEPS)}
    room = words - LETTER - 4
    lines, cells, y = [], [], float(HEAD)
    letters = [{"sentence": sentence, "y": y + LINE / 2}]
    scales = {step: _scale([row[step] for row in every], left[step], column) for step in STEPS}
    for row in kept:
        said = {step: _written(step, row[step]) for step in STEPS}
        hidden = row["masked"] == -math.inf
        lines.append({
            "sentence": sentence, "place": row["place"], "text": row["text"], "top": y, "y": y + LINE / 2, "bottom": y + LINE,
            "start": LETTER, "end": min(LETTER + 6.5 * len(row["text"]), words), "hidden": hidden, "chosen": row["chosen"],
            "faint": row["special"] or hidden, "size": min(12.0, max(7.0, room / (0.58 * len(row["text"])))), **said,
        })  # fmt: skip
        for at, step in enumerate(STEPS, start=1):
            zero, end = scales[step](0.0), scales[step](row[step])
            cells.append({"sentence": sentence, "step": at, "x": zero, "x2": end, "top": y + 3, "y": y + LINE / 2,
                          "bottom": y + LINE - 3, "right": max(zero, end) + 3, "said": said[step]})  # fmt: skip
        y += LINE
    heads = [
        {"step": at, "x": left[step], "y": 9 + 14 * deep, "said": text, "deep": deep}
        for at, (step, texts) in enumerate(STEPS.items(), start=1)
        for deep, text in enumerate(texts[:2])
    ]
    height = y
    x, down = {"scale": span(0, width), "axis": None}, {"scale": span(0, height, reverse=True), "axis": None}

    def box(**more: object) -> Spec:
        edges = {"y": field("top", **down), "y2": {"field": "bottom"}}
        return {"x": {"datum": 0, "type": "quantitative", **x}, "x2": {"datum": width}, **edges, **more}

    color = either("datum.sentence === 'A'", theme.sentence("A"), theme.sentence("B"))
    lit = either("shown >= datum.step", 1, PALE)
    at = {"x": field("x", **x), "y": field("y", **down)}
    tooltip = [nominal("sentence"), nominal("text", title="word")]
    tooltip += [nominal(step, title=title) for step, (title, *_) in STEPS.items()]
    band = {"opacity": {"condition": {"param": "word", "empty": False, "value": 1}, "value": 0}, "tooltip": tooltip}
    name = {"x": {"datum": LETTER, "type": "quantitative", **x}, "y": at["y"], "text": nominal("text")}
    layers = [
        {"name": f"row_{sentence}", "data": {"values": lines}, **marks("rect", box(**band), color=theme.grid)},
        _of(cells, "rect", {**at, "x2": {"field": "x2"}, "y": field("top", **down), "y2": {"field": "bottom"}, "color": color,
                            "opacity": lit}, cornerRadius=1),
        _of(cells, "text", {**at, "x": field("right", **x), "text": nominal("said"), "opacity": lit,
                            "color": either("datum.said === '−∞'", theme.ink, theme.muted)}, align="left",
            fontSize=10),
        _of([row for row in lines if row["chosen"]], "rect", box(), fillOpacity=0, stroke=theme.ink, strokeWidth=1.5),
        _of(lines, "text", {**name, "color": either("datum.faint", theme.muted, theme.ink),
                            "size": field("size", scale=None)}, align="left", limit=room),
        _of(lines, "rule", {"x": field("start", **x), "x2": {"field": "end"}, "y": at["y"],
                            "opacity": either("datum.hidden", 1, 0)}, color=theme.muted),
        _of(letters, "text", {**name, "x": {"datum": 4, "type": "quantitative", **x}, "text": nominal("sentence"),
                              "color": color}, align="left", fontSize=12, fontWeight=700),
        _of(heads, "text", {**at, "text": nominal("said"), "color": either("shown == datum.step", theme.ink, theme.muted),
                            "size": either("datum.deep", 10, 11)}, align="left"),
    ]  # fmt: skip
    left_out = f"Of {n} words and special tokens in {sentence} the {len(kept)} with the largest weights: the files hold them all."
    title = {"text": textwrap.wrap(left_out, int(width / 7)), "fontSize": 12, "fontWeight": 400, "color": theme.muted}
    return {"layer": layers, "width": width, "height": height, **({"title": title} if len(kept) < n else {})}


def _of(rows: list[dict], kind: str, encoding: Spec, **look: object) -> Spec:
    return {"data": {"values": rows}, **marks(kind, encoding, **look)}


def _scale(values: list[float], left: float, column: float) -> Callable[[float], float]:
    """A column's numbers to pixels, zero included, with room for the number beside a bar; what isn't finite has no bar."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min([0.0, *finite]), max([0.0, *finite])
    room = (column - NUMBER - 4) / ((high - low) or 1.0)
    return lambda value: left + ((value if math.isfinite(value) else 0.0) - low) * room


def _written(step: str, value: float) -> str:
    if step == "share":
        return numbers.percent(value)
    return numbers.decimal(value, 1 if 99.995 <= abs(value) < math.inf else 2)


@functools.cache
def _code(theme: Theme) -> Spec:
    lines = []
    for name, text in kernel_lines().items():
        parts = map(indented, textwrap.wrap(text, LETTERS, subsequent_indent="    ", break_long_words=False))
        lines += [{"line": len(lines) + at, "text": part, "step": MAKES.get(name, 3)} for at, part in enumerate(parts)]
    now = "shown == datum.step"
    lit, ink = either(now, 1, 0), either(now, theme.ink, theme.muted)
    return code_view(lines, "line", "The kernel's own lines", PART, lit, ink, SMALL, color=theme.grid)
