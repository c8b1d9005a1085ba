"""Summarise a page in short lines (the page's record), and compare two records."""

import base64
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from selfattn.charts.vega import PNG_URI, drawn_frame

FOLDER = Path(__file__).parent
ANEW = "If you intended the changes, run `python -m tests.as_shown` and read the `git diff`."
FEW = 6  # up to this many values are recorded in full
LOOKS = re.compile(  # keys that only affect a chart's look
    r"^\$schema|^config|^autosize|[sS]ize$|Radius|Limit|Padding|Weight|Extent|Angle|^symbolType|^clamp|^interpolate"
    r"|^align|^baseline|^anchor|^grid|^tick|^orient|^strokeWidth|^filled|^columns|^label[A-Z](?!xpr)|^title[A-Z]"
)
# Processors round differently. A number in a column may differ by NOISE + (NEAR times the column's largest number).
# A number in a text may differ by NOISE + one unit of the number's last printed digit.
NEAR, NOISE = 2e-4, 1e-5
ROW = re.compile(r"(?=.*\d)-?\d*(,-?\d*)+")  # numbers in a text: "44,16,,-3" has no third number
NUMBER = re.compile(r"(?<![\w#])[-+−]?(?:\d+ × 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?(?!\w|\.\d)(?: %)?)")
POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
BESIDE = " ¦ "  # separates the columns of a line
NUMERIC = re.compile(r"[^=¦]* = (?:n\d+(?:of\d+)? |picture |all |to |mean |order |nan ?|-?inf ?|[-\d.e+]+ ?)*")

AS_IN = "as in"

Lines = dict[str, str]
Record = dict[str, dict[str, Lines]]  # view -> item (figure, table or text) -> lines


# Summaries


def table(frame: pd.DataFrame) -> str:
    """Return a table's number of rows, and each column's summary."""
    return BESIDE.join([f"{len(frame)} rows", *(column(str(name), frame[name].tolist()) for name in frame)])


def column(name: str, values: list) -> str:
    """Return a column's values in full, or a summary if there are more than six."""
    if any(isinstance(value, str) and value.startswith(PNG_URI) for value in values):
        return f"{name} = picture {' '.join(map(_picture, values))}"
    if all(value is None or isinstance(value, bool | int | float | np.number) for value in values):
        return f"{name} = {numbers([math.nan if value is None else float(value) for value in values])}"
    texts = [str(value) for value in values]
    if any(map(ROW.fullmatch, texts)) and all(not text or ROW.fullmatch(text) for text in texts):
        return f"{name} = {numbers([float(part or 'nan') for text in texts for part in text.split(',')])}"
    if len(texts) <= FEW:
        return f"{name}: {' | '.join(texts)}"
    kinds = [NUMBER.sub("#", text) for text in texts]
    if len({*kinds}) == 1 and "#" not in kinds[0]:
        return f"{name}: {len(texts)} times {texts[0]}"
    inside = [_value(number) for text in texts for number in NUMBER.findall(text)]
    said = (
        f"{name}: {len(texts)}, {len({*kinds})} kinds, {sum(map(len, kinds))} letters, from {texts[0]} to {texts[-1]}"
    )
    return said + (f"{BESIDE}{name}, inside = {numbers(inside)}" if inside else "")


def numbers(values: list[float]) -> str:
    """Return the values in full, or a summary if there are more than six."""
    if len(values) <= FEW:
        return " ".join(map(_short, values))
    known = np.array([value for value in values if math.isfinite(value)] or [0.0])
    n = f"n{len(values)}" if len(known) == len(values) else f"n{len(known)}of{len(values)}"
    if known.min() == known.max():
        return f"{n} all {_short(known[0])}"
    least, most, mean, order = map(_short, (known.min(), known.max(), known.mean(), _in_order(known)))
    return f"{n} {least} to {most} mean {mean} order {order}"


def _in_order(values: np.ndarray) -> float:
    return float((values * (np.arange(len(values)) * 0.6180339887 % 1)).mean())


def _short(value: float) -> str:
    value = float(f"{value:.5g}")
    return str(int(value) if value.is_integer() and abs(value) < 1e6 else value)


def _picture(uri: str) -> str:
    levels = np.asarray(Image.open(io.BytesIO(base64.b64decode(uri.removeprefix(PNG_URI)))), dtype=float).ravel()
    return f"{levels.mean():.1f} {_in_order(levels):.1f}"


def figure(name: str, caption: str, drawn: pd.DataFrame, spec: dict) -> Lines:
    """Return a figure's name and caption, and the marks, numbers and data of its Vega-Lite specification."""
    chart = Chart()
    chart.read(spec)
    letters = sum(len(NUMBER.sub("#", text)) for text in chart.code)
    inside = [_value(number) for text in chart.code for number in NUMBER.findall(text)]
    found = {"layout": chart.values, "packed": chart.packed, f"in {letters} letters of code": inside}
    lines = {
        "name": name,
        "caption": caption,
        "draws": BESIDE.join(["; ".join(dict.fromkeys(chart.marks)), *dict.fromkeys(chart.titles)]),
        "numbers": BESIDE.join(f"{kind} = {numbers(values)}" for kind, values in found.items() if values),
    }
    lines |= {f"data {key}": text for text, key in chart.data.items()}
    return lines if drawn.equals(drawn_frame(spec)) else lines | {"table": table(drawn)}


def texts(said: Iterable[str]) -> Lines:
    """Return a dictionary of the texts, with their first two words as keys."""
    lines, seen = {}, Counter()
    for text in said:
        key = NUMBER.sub("#", " ".join(text.split()[:2]))
        seen[key] += 1
        lines[f"{key} {seen[key]}" if seen[key] > 1 else key] = text
    return lines


class Chart:
    """Collects the parts of a chart's specification."""

    def __init__(self) -> None:
        self.marks: list[str] = []  # types of marks with their fields
        self.titles: list[str] = []
        self.values: list[float] = []  # positions, sizes, domains ...
        self.packed: list[float] = []  # numbers in comma-separated texts
        self.code: list[str] = []  # expressions, names and all other texts
        self.data: dict[str, str] = {}  # a table's summary -> its name

    def read(self, part: Any) -> None:
        match part:
            case dict():
                if "mark" in part or "encoding" in part:
                    self.marks.append(_mark(part))
                for name, inner in part.items():
                    if not LOOKS.search(name):
                        self._read_named(name, inner)
            case list():
                for inner in part:
                    self.read(inner)
            case str() if ROW.fullmatch(part):
                self.packed += [float(number) for number in part.split(",") if number.strip("-")]
            case str():
                self.code.append(part)
            case bool() | None:
                pass
            case _:
                self.values.append(float(part))

    def _read_named(self, name: str, part: Any) -> None:
        if name == "datasets":
            for key, rows in part.items():
                self._read_records(key, rows)
        elif name == "values":
            self._read_records(str(len(self.data)), part)
        elif name in ("title", "text") and isinstance(part, str | list) and all(isinstance(line, str) for line in part):
            self.titles.append(part if isinstance(part, str) else " ".join(part))
        else:
            self.read(part)

    def _read_records(self, name: str, rows: Any) -> None:
        if isinstance(rows, list) and rows and isinstance(rows[0], dict):
            self.data.setdefault(table(pd.DataFrame(rows)), name)
        else:
            self.read(rows)


def _mark(part: dict) -> str:
    mark, channels = part.get("mark", "all"), part.get("encoding", {})
    fields = [f"{name}={one['field']}" for name, one in channels.items() if isinstance(one, dict) and "field" in one]
    return " ".join([mark["type"] if isinstance(mark, dict) else mark, *fields])


# Storage


def write(name: str, views: Record) -> None:
    """Store what a page shows in each view (a state of the page).

    If an item (figure, table or text) is similar in an earlier view, store that view's name (under AS_IN) and the differences.
    """
    kept: dict[str, dict[str, dict[str, str | None]]] = {}
    for number, (view, items) in enumerate(views.items()):
        earlier = [*views][:number]
        kept[view] = {
            item: min([own, *(_beside(views, other, item, own) for other in earlier if item in views[other])], key=len)
            for item, own in items.items()
        }
    text = json.dumps(kept, ensure_ascii=False, indent=1)
    text = re.sub(r"\{\n *([^\n]*[^\n{,])\n *\}", r"{\1}", text)  # each text has its own line, a brace has none
    (FOLDER / f"{name}.json").write_text(re.sub(r"\n *\}", "}", text) + "\n", "utf-8")


def _beside(views: Record, other: str, item: str, own: Lines) -> dict[str, str | None]:
    before = views[other][item]
    return {AS_IN: other} | {line: own.get(line) for line in before | own if before.get(line) != own.get(line)}


def read(name: str) -> Record:
    views = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    for items in views.values():
        for item, own in items.items():
            lines = (views[own.pop(AS_IN)][item] if AS_IN in own else {}) | own
            items[item] = {line: text for line, text in lines.items() if text is not None}
    return views


# Comparison


def differences(name: str, views: Record) -> list[str]:
    """Return a message for each difference between `views` and the stored record."""
    kept = read(name)
    told = [f"{view}: no such view {'now' if view in kept else 'before'}" for view in kept.keys() ^ views.keys()]
    for view in kept.keys() & views.keys():
        for item in sorted({*kept[view], *views[view]}):
            before, now = kept[view].get(item, {}), views[view].get(item, {})
            for line in before | now:
                was, is_now = changed(before.get(line), now.get(line))
                if was != is_now:
                    name = f" ({now.get('name', before.get('name'))})" if item.startswith("figure") else ""
                    told.append(f"{view} / {item}{name} / {line}\n  was {was}\n  is  {is_now}")
    return told


def changed(one: str | None, other: str | None) -> tuple[str | None, str | None]:
    """Return the two lines without the columns that are alike."""
    if one is None or other is None:
        return one, other
    first, second = one.split(BESIDE), other.split(BESIDE)
    if len(first) != len(second):
        return one, other
    apart = [pair for pair in zip(first, second) if not alike(*pair)]
    return (BESIDE.join(a for a, _ in apart), BESIDE.join(b for _, b in apart)) if apart else ("", "")


def alike(one: str, other: str) -> bool:
    """Return True if two texts differ only by rounding."""
    first, second = (NUMBER.findall(text) for text in (one, other))
    sizes = [abs(_value(number)) for number in first + second]
    column = bool(NUMERIC.fullmatch(one) and NUMERIC.fullmatch(other))
    measured = [size for number, size in zip(first + second, sizes) if not number.isdecimal()]
    if measured and all(0 < size < NOISE for size in measured):  # the quoted word is noise too
        one, other = (re.sub('"[^"]*"', "", text) for text in (one, other))
    if one == other or NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return one == other
    near = [NEAR * max(sizes, default=0.0)] * len(first) if column else map(_digit, first, second)
    return all(abs(_value(a) - _value(b)) <= NOISE + by for a, b, by in zip(first, second, near))


def _digit(*texts: str) -> float:
    """Return by how much two written numbers may differ: about 0.1 for "2.5" and "2.25", but 0 for whole numbers without "%"."""
    places = [len(text.partition(".")[2].strip(" %")) for text in texts]
    return 1.01 * 10.0 ** -min(places) if max(places) or "%" in texts[0] else 0.0


def _value(text: str) -> float:
    number, _, power = text.strip(" %").replace("−", "-").replace(",", "").partition(" × 10")
    return float(number) * 10.0 ** int(power.translate(POWERS) or 0)
