"""How a head computes a word's row: one table, a line a word, from score to what is handed over, beside the kernel's lines.

Buttons beneath it (and their arrow keys) light one step and its lines of the kernel; a line under the cursor is lit. Neither
runs anything on the server.
"""

import math
import textwrap

import pandas as pd

from selfattn import numbers
from selfattn.charts.kernel_steps import PALE, code_lines, code_view
from selfattn.charts.theme import Theme
from selfattn.charts.two_widths import the_window
from selfattn.charts.vega import Spec, either, field, finish, marks, nominal, span

STEPS = {  # column of the rows: its title, what makes it, what a button says
    "score": ("score", "QKᵀ", "score"),
    "masked": ("masked", "/√d, mask", "mask"),
    "weight": ("weight", "softmax", "weight"),
    "share": ("handed over", "weight × V", "handed over"),
}
AT = {1: 1, 2: 2, 3: 2, 4: 3, 5: 4, 6: 4}  # of these, by the six that the kernel's lines are told of
MOST = 24  # words of a sentence
PART, GAP = 326, 34  # pixels: of a sentence's table and of the kernel's lines, and between them
LINE, HEAD, BETWEEN = 20, 36, 12  # pixels: a word, the titles, from A to B
LETTER, NUMBER = 16, 42  # pixels: before a word, and beside a bar
LAST = 0.3  # of a column: what the last one has more, for its title
SMALL, LETTERS = 10, 52  # of the kernel's lines beneath the table: the letters' size, and how many stand in a line


def kernel_row(rows: pd.DataFrame, theme: Theme) -> Spec:
    """tidy_tables.row_frame of one sentence or two, beside each other and the kernel's lines, or one beneath the other where the
    window is narrow; of long ones the words of the largest weights."""
    kept = most_weight(rows)
    names = kept["sentence"].unique().tolist()
    tables = [_table(rows, kept, name, theme) for name in names]
    labels = [button for *_, button in STEPS.values()]
    buttons = {"input": "radio", "options": list(range(1, len(labels) + 1)), "labels": labels, "name": "Step "}
    over = {"type": "point", "on": "pointerover", "clear": "pointerout", "fields": ["sentence", "place"]}
    params = [
        *the_window(),
        {"name": "shown", "value": len(labels), "bind": buttons},
        {"name": "word", "select": over, "views": [f"row_{name}" for name in names]},
    ]
    parts = [*tables, _code(theme)]
    beside = f"max(1, min({len(parts)}, floor((room + {GAP}) / {PART + GAP})))"
    return finish({"params": params, "concat": parts, "columns": {"signal": beside}, "spacing": GAP}, theme)


def most_weight(rows: pd.DataFrame, most: int = MOST) -> pd.DataFrame:
    """The rows of each sentence's words of the largest weights, in their order; the word itself is always one."""
    first = rows.assign(rank=rows["weight"].where(~rows["chosen"], math.inf)).sort_values("rank", ascending=False)
    return rows.loc[first.groupby("sentence").head(most).index.sort_values()]


def _table(rows: pd.DataFrame, every: pd.DataFrame, sentence: str, theme: Theme) -> Spec:
    width, kept = PART, every[every["sentence"] == sentence]
    longest = max(len(text) for text in every["text"])
    words = min(max(LETTER + 7 * longest + 6, 64), 0.28 * width)
    column = (width - words) / (len(STEPS) + LAST)
    left = {step: words + at * column for at, step in enumerate(STEPS)}
    room = words - LETTER - 4
    lines, cells, letters, y = [], [], [], float(HEAD)
    scales = {step: _scale(every[step], left[step], column) for step in STEPS}  # both sentences on one
    for name, own in kept.groupby("sentence", sort=False):
        letters.append({"sentence": name, "y": y + LINE / 2})
        for row in own.to_dict("records"):
            said = {step: _written(step, row[step]) for step in STEPS}
            hidden = row["masked"] == -math.inf
            lines.append({
                "sentence": name, "place": row["place"], "text": row["text"], "top": y, "y": y + LINE / 2, "bottom": y + LINE,
                "start": LETTER, "end": min(LETTER + 6.5 * len(row["text"]), words), "hidden": hidden, "chosen": row["chosen"],
                "faint": row["special"] or hidden, "size": min(12.0, max(7.0, room / (0.58 * len(row["text"])))), **said,
            })  # fmt: skip
            for at, step in enumerate(STEPS, start=1):
                zero, end = scales[step](0.0), scales[step](row[step])
                cells.append({"sentence": name, "step": at, "x": zero, "x2": end, "top": y + 3, "y": y + LINE / 2,
                              "bottom": y + LINE - 3, "right": max(zero, end) + 3, "said": said[step]})  # fmt: skip
            y += LINE
        y += BETWEEN
    heads = [
        {"step": at, "x": left[step], "y": 9 + 14 * deep, "said": text, "deep": deep}
        for at, (step, texts) in enumerate(STEPS.items(), start=1)
        for deep, text in enumerate(texts[:2])
    ]
    height = y - BETWEEN
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
    left_out = _left_out(rows[rows["sentence"] == sentence], kept)
    title = {"text": textwrap.wrap(left_out, int(width / 7)), "fontSize": 12, "fontWeight": 400, "color": theme.muted}
    return {"layer": layers, "width": width, "height": height, **({"title": title} if left_out else {})}


def _of(rows: list[dict], kind: str, encoding: Spec, **look: object) -> Spec:
    return {"data": {"values": rows}, **marks(kind, encoding, **look)}


def _scale(values: pd.Series, left: float, column: float):
    """A column's numbers to pixels, zero included, with room for the number beside a bar; what isn't finite has no bar."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min([0.0, *finite]), max([0.0, *finite])
    room = (column - NUMBER - 4) / ((high - low) or 1.0)
    return lambda value: left + ((value if math.isfinite(value) else 0.0) - low) * room


def _written(step: str, value: float) -> str:
    if step == "share":
        return f"{numbers.decimal(100 * value, 0)} %"
    return numbers.decimal(value, 1 if 99.995 <= abs(value) < math.inf else 2)


def _left_out(rows: pd.DataFrame, kept: pd.DataFrame) -> str:
    counts = rows.groupby("sentence", sort=False).size()
    cut = {name: n for name, n in counts.items() if n > (kept["sentence"] == name).sum()}
    parts = (
        f"of {n} words and special tokens in {name} the {MOST} with the largest weights" for name, n in cut.items()
    )
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}: the files hold them all." if text else ""


def _code(theme: Theme) -> Spec:
    lines = []
    for line in code_lines():
        parts = textwrap.wrap(line["text"], LETTERS, subsequent_indent="\u00a0\u00a0", break_long_words=False)
        lit = {"first": AT[line["first"]], "last": AT[line["last"]]}
        lines += [{"line": len(lines) + at, "text": part, **lit} for at, part in enumerate(parts)]
    now = "shown >= datum.first && shown <= datum.last"
    lit, ink = either(now, 1, 0), either(now, theme.ink, theme.muted)
    return code_view(lines, "line", "The kernel's own lines", PART, lit, ink, SMALL, color=theme.grid)
