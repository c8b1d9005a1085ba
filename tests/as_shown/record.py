"""Figures and tables in few numbers each, as JSON that can be read; and where two such records differ.

A record is by view, in it by item ("says", "figure 1" ...), and an item nested as its chart is. Of an item that is much like an
earlier one only the differences are written.
"""

import base64
import io
import json
import math
import re
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from selfattn.charts.theme import LIGHT, RAMPS
from selfattn.charts.vega import PNG_URI, drawn_frame

FOLDER = Path(__file__).parent
ANEW = "If this is meant: `python -m tests.as_shown`, and look through its `git diff`."
FEW = 6  # so many are written out
LOOKS = re.compile(  # no numbers and no encodings: of these a change is seen with the eyes
    r"^\$schema|^config|^autosize|[sS]ize$|Radius|Limit|Padding|Weight|Extent|Angle|^symbolType|^clamp|^interpolate"
    r"|^align|^baseline|^anchor|^grid|^tick|^orient|^strokeWidth|^filled|^columns|^label[A-Z](?!xpr)|^title[A-Z]"
)
SHORT = 60  # letters, up to which a part of a chart is written out each time
LINE, DEEP = 150, 3  # letters at which JSON is broken; spaces from which it is indented no further
# Between processors results move by 1e-6 of their size; a text's last digit by one, and what only measures the noise at will.
ROW = re.compile(r"(?=.*\d)-?\d*(,-?\d*)+")
NEAR, NOISE = 2e-4, 1e-5
NUMBER = re.compile(r"(?<![\w#])[-+−]?(?:\d+ × 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?(?!\w|\.\d)(?: %)?)")
QUOTED = re.compile('"[^"]*"')

POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")

Leaf = str | float | list
GONE = None


# Few numbers


def _in_rows(texts: list) -> list[float] | None:
    """The numbers of texts that are nothing but rows of them ("44,16,,-3": the third isn't known), as charts have them."""
    if not any(isinstance(text, str) and ROW.fullmatch(text) for text in texts):
        return None
    if not all(isinstance(text, str) and (not text or ROW.fullmatch(text)) for text in texts):
        return None
    return [float(part or "nan") for text in texts for part in text.split(",")]


def table(frame: pd.DataFrame) -> dict[str, Leaf]:
    """Each column in few numbers or words."""
    return {str(name): column(frame[name].tolist()) for name in frame}


def column(values: list) -> Leaf:
    """Up to FEW values; of more how many, the first, the last, the largest size, the mean, and a mean that tells their order."""
    if any(isinstance(value, str) and value.startswith(PNG_URI) for value in values):
        return [_picture(value) for value in values]
    if all(value is None or isinstance(value, bool | int | float | np.number) for value in values):
        return _numbers([float("nan") if value is None else float(value) for value in values])
    if (inside_rows := _in_rows(values)) is not None:
        return _numbers(inside_rows)
    texts = [str(value) for value in values]
    if len(texts) > 1 and len(set(texts)) == 1 and not NUMBER.search(texts[0]):  # numbers may differ elsewhere
        return f"{len(texts)} of {texts[0]}"
    if len(texts) <= FEW:
        return " | ".join(texts)
    inside = [_value(number[0]) for text in texts for number in NUMBER.finditer(text)]
    words = zlib.crc32("|".join(NUMBER.sub("#", text) for text in texts).encode())
    return [f"{len(texts)} from {texts[0]} to {texts[-1]}, {words:08x}", *_numbers(inside)]


def _numbers(values: list[float]) -> list:
    finite = [value for value in values if math.isfinite(value)]
    if len(values) <= FEW:
        return [_short(value) for value in values]
    array = np.array(finite or [0.0])
    order = np.arange(len(array)) * 0.6180339887 % 1
    n = f"{len(values)}" if len(finite) == len(values) else f"{len(finite)} of {len(values)}"
    few = (array[0], array[-1], np.abs(array).max(), array.mean(), (array * order).mean())
    return [n, *(_short(float(value)) for value in few)]


def _short(value: float) -> float | str:
    if not math.isfinite(value):
        return str(value)
    value = float(f"{value:.5g}")
    return int(value) if value == int(value) and abs(value) < 1e6 else value


def _picture(uri: str) -> str:
    """A text, as one of its levels may fall to the other side of a half."""
    levels = np.asarray(Image.open(io.BytesIO(base64.b64decode(uri.removeprefix(PNG_URI)))), dtype=float).ravel()
    order = np.arange(len(levels)) * 0.6180339887 % 1
    return f"picture of {len(levels)}, {levels.mean():.1f}, {(levels * order).mean():.1f}"


def chart(spec: Any, path: str = "", seen: dict[str, str] | None = None) -> Any:
    """The specification in short: records as tables, fields as "name:type", long texts' beginnings, nothing written out twice."""
    seen = {json.dumps(getattr(LIGHT, name)): f"theme {name}" for name in RAMPS} if seen is None else seen
    rows = _in_rows(spec if isinstance(spec, list) else [spec])
    if rows is not None:
        return _numbers(rows)
    records = path.endswith(".values") or path.startswith("datasets.")
    if records and isinstance(spec, list):
        spec = table(pd.DataFrame(spec)) if spec and isinstance(spec[0], dict) else column(spec)
    if isinstance(spec, str) and len(spec) > LINE:
        return f"{spec[: LINE // 3]} ... {zlib.crc32(spec.encode()):08x}"
    if not isinstance(spec, dict | list):
        return _short(spec) if isinstance(spec, float) else str(spec) if spec is None else spec
    text = json.dumps(spec)
    if text in seen:
        return f"= {seen[text]}"
    if len(text) > SHORT:
        seen[text] = path
    if isinstance(spec, list):
        return [chart(part, f"{path}.{i}", seen) for i, part in enumerate(spec)]
    if records:
        return spec
    if {"field", "type"} <= spec.keys():
        field = f"{spec['field']}:{spec['type'][0].upper()}"
        spec = {"field": field, **{name: part for name, part in spec.items() if name not in ("field", "type")}}
        return field if len(spec) == 1 else chart(spec, path, seen)
    return {
        name: chart(part, f"{path}.{name}".lstrip("."), seen) for name, part in spec.items() if not LOOKS.search(name)
    }


def figure(name: str, caption: str, drawn: pd.DataFrame, spec: dict) -> dict[str, Any]:
    """One picture: its name, its caption, its chart, and its table where that isn't the chart's records."""
    item = {"name": name, "caption": caption, "chart": chart(spec)}
    return item if drawn.equals(drawn_frame(spec)) else item | {"table": table(drawn)}


# Kept


def flat(part: Any, path: str = "") -> dict[str, Any]:
    """Every leaf by its path, "chart.layer.0.mark.type"; a list of numbers and texts is one."""
    if isinstance(part, dict) or (isinstance(part, list) and any(isinstance(one, dict | list) for one in part)):
        parts = part.items() if isinstance(part, dict) else enumerate(part)
        return {key: leaf for name, one in parts for key, leaf in flat(one, f"{path}.{name}".lstrip(".")).items()}
    if isinstance(part, list):
        return {path: [leaf for one in part for leaf in flat(one).values()]}
    plain = isinstance(part, str) or (
        isinstance(part, int | float) and math.isfinite(part) and not isinstance(part, bool)
    )
    return {path: part if plain or part is GONE else str(part)}


def nested(leaves: dict[str, Any]) -> dict[str, Any]:
    """Leaves by their paths as JSON, of which `flat` makes them again; what goes through one name alone goes in one step."""
    groups: dict[str, dict[str, Any]] = {}
    for path, leaf in leaves.items():
        name, _, rest = path.partition(".")
        groups.setdefault(name, {})[rest] = leaf
    whole: dict[str, Any] = {}
    for name, group in groups.items():
        part = group[""] if "" in group else nested(group)
        if isinstance(part, dict) and len(part) == 1:
            ((rest, part),) = part.items()
            name = f"{name}.{rest}"
        whole[name] = part
    return whole


def write(name: str, views: dict[str, dict[str, Any]]) -> None:
    """Keep a record: an item much like an earlier one as "like" and what differs from that, GONE where it has nothing."""
    kept: dict[str, dict] = {view: {} for view in views}
    before: dict[str, dict[str, Leaf]] = {}
    for view, items in views.items():
        for item, whole in items.items():
            leaves, written = flat(whole), [nested(flat(whole))]
            shared = {key: sum(like.get(path) == leaf for path, leaf in leaves.items()) for key, like in before.items()}
            for key in sorted(shared, key=shared.__getitem__)[-3:]:
                like = before[key]
                differ = {path: leaf for path, leaf in leaves.items() if like.get(path) != leaf}
                gone = {path: GONE for path in _beside(like, differ) if path not in leaves}
                written.append({"like": key, **nested(differ | gone)})
            kept[view][item] = min(written, key=lambda one: len(json.dumps(one)))
            before[f"{view} / {item}"] = leaves
    (FOLDER / f"{name}.json").write_text("".join(_lines(kept)) + "\n", "utf-8")


def read(name: str) -> dict[str, dict[str, dict[str, Leaf]]]:
    """What was kept: view -> item -> path -> leaf."""
    views: dict[str, dict[str, dict[str, Leaf]]] = {}
    for view, items in json.loads((FOLDER / f"{name}.json").read_text("utf-8")).items():
        views[view] = {}
        for item, whole in items.items():
            like, _, like_item = whole.pop("like", "").rpartition(" / ")
            new = flat(whole)
            leaves = (_beside(views[like][like_item], new) if like else {}) | new
            views[view][item] = {path: leaf for path, leaf in leaves.items() if leaf is not GONE}
    return views


def _beside(leaves: dict[str, Leaf], new: dict[str, Leaf]) -> dict[str, Leaf]:
    """The leaves that can stand where the new ones do: no path leads through a leaf."""
    ways = _ways(new)
    return {path: leaf for path, leaf in leaves.items() if path not in ways and not new.keys() & _ways([path])}


def _ways(paths: Iterable[str]) -> set[str]:
    return {path[:i] for path in paths for i, letter in enumerate(path) if letter == "."}


def _lines(part: Any, indent: str = "") -> Iterator[str]:
    """JSON that breaks only what is too long for a line."""
    text = json.dumps(part, ensure_ascii=False)
    if len(text) <= LINE or not isinstance(part, dict):
        yield text
        return
    yield "{\n"
    for number, (name, one) in enumerate(part.items()):
        yield ",\n" * bool(number) + f"{indent[:DEEP]} {json.dumps(name, ensure_ascii=False)}: "
        yield from _lines(one, indent + " ")
    yield f"\n{indent[:DEEP]}}}"


# Compared


def differences(name: str, views: dict[str, dict[str, Any]]) -> list[str]:
    """What differs from what was kept, a line each: where, before, now."""
    kept = read(name)
    lines = [f"{view}: no such view {'now' if view in kept else 'before'}" for view in kept.keys() ^ views.keys()]
    for view in kept.keys() & views.keys():
        now = {item: flat(whole) for item, whole in views[view].items()}
        for item in sorted({*kept[view], *now}):
            before, after = kept[view].get(item, {}), now.get(item, {})
            for path in dict.fromkeys([*before, *after]):
                if path not in before or path not in after or not alike(before[path], after[path], _code(path)):
                    lines.append(f"{view} / {item} / {path}\n  was {before.get(path)}\n  is  {after.get(path)}")
    return lines


def _code(path: str) -> bool:
    return path.startswith("chart.") and not path.endswith(("title", "text"))


def alike(one: Leaf, other: Leaf, code: bool = False) -> bool:
    """Whether two leaves are the same, up to what another processor makes of them. code: a text's numbers have no last digit."""
    if isinstance(one, str) and isinstance(other, str):
        return one == other or _alike_texts(one, other, code)
    first, second = (leaf if isinstance(leaf, list) else [leaf] for leaf in (one, other))
    size = max((abs(value) for value in (*first, *second) if not isinstance(value, str)), default=0.0)
    return len(first) == len(second) and all(
        alike(a, b, code)
        if isinstance(a, str) and isinstance(b, str)
        else not isinstance(a, str) and not isinstance(b, str) and abs(a - b) <= NEAR * size + NOISE
        for a, b in zip(first, second)
    )


def _alike_texts(one: str, other: str, code: bool) -> bool:
    first, second = ([found[0] for found in NUMBER.finditer(text)] for text in (one, other))
    if first and all(0 < _value(number) < NOISE for number in first + second):  # of what the noise names
        one, other = (QUOTED.sub("", text) for text in (one, other))
    return NUMBER.sub("#", one) == NUMBER.sub("#", other) and all(map(partial(_near, code=code), first, second))


def _near(one: str, other: str, code: bool) -> bool:
    a, b = _value(one), _value(other)
    places = [len(text.partition(".")[2].strip(" %")) for text in (one, other)]
    if code:
        digit = NEAR * abs(a)
    else:
        digit = 1.01 * 10.0 ** -min(places) if max(places) or "%" in one else 0.0
    return abs(a - b) <= digit or max(abs(a), abs(b)) < NOISE


def _value(text: str) -> float:
    number, _, power = text.strip(" %").replace("−", "-").replace(",", "").partition(" × 10")
    return float(number) * 10.0 ** int(power.translate(POWERS) or 0)
