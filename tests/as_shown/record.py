"""Figures and tables in few numbers each, as JSON that can be read; and where two such records differ.

A record is by view, in it by item ("says", "figure 1" ...), and of an item a text for each path ("chart.layer.0.mark.type"). Of
an item that an earlier view has too only what differs is written.
"""

import base64
import io
import itertools
import json
import math
import os
import re
import zlib
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
SHORT, LONG = 60, 150  # letters: up to which a part of a chart is written out each time; beyond which a text is cut
# Between processors results move by 1e-6 of their size; a text's last digit by one, and what only measures the noise at will.
ROW = re.compile(r"(?=.*\d)-?\d*(,-?\d*)+")
NEAR, NOISE = 2e-4, 1e-5
NUMBER = re.compile(r"(?<![\w#])[-+−]?(?:\d+ × 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?(?!\w|\.\d)(?: %)?)")
POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
BESIDE = " ¦ "  # between the parts of a list: its numbers are as exact as the largest of them

Record = dict[str, dict[str, Any]]  # view -> item -> its parts, or the text of each path


# Few numbers


def table(frame: pd.DataFrame) -> dict[str, str | list]:
    """Each column in few numbers or words."""
    return {str(name): column(frame[name].tolist()) for name in frame}


def column(values: list) -> str | list:
    """Up to FEW values; of more how many, the first, the last, the largest size, the mean, and a mean that tells their order."""
    if any(isinstance(value, str) and value.startswith(PNG_URI) for value in values):
        return [_picture(value) for value in values]
    if all(value is None or isinstance(value, bool | int | float | np.number) for value in values):
        return _numbers([math.nan if value is None else float(value) for value in values])
    texts = [str(value) for value in values]
    if any(map(ROW.fullmatch, texts)) and all(not text or ROW.fullmatch(text) for text in texts):
        # Numbers that travel as text, "44,16,,-3": the third isn't known.
        return _numbers([float(part or "nan") for text in texts for part in text.split(",")])
    if len(texts) > 1 and len(set(texts)) == 1 and not NUMBER.search(texts[0]):  # numbers may differ elsewhere
        return f"{len(texts)} of {texts[0]}"
    if len(texts) <= FEW:
        return " | ".join(texts)
    inside = [_value(number) for text in texts for number in NUMBER.findall(text)]
    words = zlib.crc32("|".join(NUMBER.sub("#", text) for text in texts).encode())
    return [f"{len(texts)} from {texts[0]} to {texts[-1]}, {words:08x}", *_numbers(inside)]


def _numbers(values: list[float]) -> list[str]:
    if len(values) <= FEW:
        return list(map(_short, values))
    finite = [value for value in values if math.isfinite(value)]
    n, known = f"n{len(values)}" if finite == values else f"n{len(finite)}of{len(values)}", np.array(finite or [0.0])
    return [n, *map(_short, (known[0], known[-1], np.abs(known).max(), known.mean(), _in_order(known)))]


def _in_order(values: np.ndarray) -> float:
    return float((values * (np.arange(len(values)) * 0.6180339887 % 1)).mean())


def _short(value: float) -> str:
    value = float(f"{value:.5g}")
    return str(int(value) if value.is_integer() and abs(value) < 1e6 else value)


def _picture(uri: str) -> str:
    levels = np.asarray(Image.open(io.BytesIO(base64.b64decode(uri.removeprefix(PNG_URI)))), dtype=float).ravel()
    return f"picture of {len(levels)}, {levels.mean():.1f}, {_in_order(levels):.1f}"


def chart(spec: Any, path: str = "", seen: dict[str, str] | None = None) -> Any:
    """The specification in short: records as tables, fields as "name:type", long texts' beginnings, nothing written out twice."""
    seen = {json.dumps(getattr(LIGHT, name)): f"theme {name}" for name in RAMPS} if seen is None else seen
    values = spec if isinstance(spec, list) else [spec]
    if any(ROW.fullmatch(str(value)) for value in values):
        return column(values)
    records = path.endswith(".values") or path.startswith("datasets.")
    if records and isinstance(spec, list):
        spec = table(pd.DataFrame(spec)) if spec and isinstance(spec[0], dict) else column(spec)
    if isinstance(spec, str) and len(spec) > LONG:
        return f"{spec[: LONG // 3]} ... {zlib.crc32(spec.encode()):08x}"
    if not isinstance(spec, dict | list):
        return spec
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


def flat(part: Any, path: str = "") -> dict[str, str]:
    """A text for every path; a list of numbers and texts is one."""
    if isinstance(part, dict) or (isinstance(part, list) and any(isinstance(one, dict | list) for one in part)):
        parts = part.items() if isinstance(part, dict) else enumerate(part)
        return {key: leaf for name, one in parts for key, leaf in flat(one, f"{path}.{name}".lstrip(".")).items()}
    if isinstance(part, list):
        return {path: BESIDE.join(leaf for one in part for leaf in flat(one).values())}
    return {path: _short(part) if isinstance(part, int | float) and not isinstance(part, bool) else str(part)}


def write(name: str, views: Record) -> None:
    """Keep a record; None: what only the earlier view has."""
    kept: Record = {}
    whole = {view: {item: flat(parts) for item, parts in items.items()} for view, items in views.items()}
    for view, items in whole.items():
        before = {item: _earlier(whole, view, item) for item in items}
        kept[view] = {
            item: {at: own.get(at) for at in before[item] | own if before[item].get(at) != own.get(at)}
            for item, own in items.items()
        }
    (FOLDER / f"{name}.json").write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", "utf-8")


def read(name: str) -> Record:
    """What was kept."""
    views = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    for view, items in views.items():
        for item, own in items.items():
            leaves = _earlier(views, view, item) | own
            items[item] = {path: leaf for path, leaf in leaves.items() if leaf is not None}
    return views


def _earlier(views: Record, view: str, item: str) -> dict[str, str]:
    """The item in the earlier view that has it and whose name begins as this one's."""
    before = [name for name in itertools.takewhile(lambda name: name != view, views) if item in views[name]]
    like = max(before, key=lambda name: len(os.path.commonprefix([name, view])), default="")  # noqa: RUF071 (no paths)
    return views[like][item] if before else {}


# Compared


def differences(name: str, views: Record) -> list[str]:
    """What differs from what was kept, a line each: where, before, now."""
    kept = read(name)
    lines = [f"{view}: no such view {'now' if view in kept else 'before'}" for view in kept.keys() ^ views.keys()]
    for view in kept.keys() & views.keys():
        now = {item: flat(whole) for item, whole in views[view].items()}
        for item in sorted({*kept[view], *now}):
            before, after = kept[view].get(item, {}), now.get(item, {})
            for path in before | after:
                was, is_now = before.get(path), after.get(path)
                code = path.startswith("chart.") and not path.endswith(("title", "text"))
                if was is None or is_now is None or not alike(was, is_now, code):
                    lines.append(f"{view} / {item} / {path}\n  was {was}\n  is  {is_now}")
    return lines


def alike(one: str, other: str, code: bool = False) -> bool:
    """Whether two texts are the same, up to what another processor makes of their numbers; in code none has a last digit."""
    first, second = (NUMBER.findall(text) for text in (one, other))
    sizes = [abs(_value(number)) for number in first + second]
    if not code and sizes and all(0 < size < NOISE for size in sizes):  # of what the noise names
        one, other = (re.sub('"[^"]*"', "", text) for text in (one, other))
    if one == other or NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return one == other
    if BESIDE in one:
        near = [NEAR * max(sizes, default=0.0)] * len(first)
    else:
        near = [NEAR * size if code else _digit(*pair) for size, *pair in zip(sizes, first, second)]
    return all(abs(_value(a) - _value(b)) <= NOISE + by for a, b, by in zip(first, second, near))


def _digit(*texts: str) -> float:
    """One at the last place of the shorter of two numbers; of whole ones there is none."""
    places = [len(text.partition(".")[2].strip(" %")) for text in texts]
    return 1.01 * 10.0 ** -min(places) if max(places) or "%" in texts[0] else 0.0


def _value(text: str) -> float:
    number, _, power = text.strip(" %").replace("−", "-").replace(",", "").partition(" × 10")
    return float(number) * 10.0 ** int(power.translate(POWERS) or 0)
