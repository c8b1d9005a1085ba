"""Make the data and the picture of `shaded`, a component that shows tinted words."""

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from selfattn.charts.labels import right_to_left
from selfattn.charts.shaded import shaded
from selfattn.charts.vega import Spec
from selfattn.panel import Live, Look

FIRST = 8  # rows shown before a click on "more"


@dataclass(frozen=True, eq=False)
class Tint:
    """The column whose numbers tint the words, and how these numbers are written and scaled."""

    column: str  # the frame's column
    write: Callable[[float], str]
    tip: str  # tooltip, with {} for the number
    deepest: float  # the number with the deepest tint
    level: float = -math.inf  # smaller numbers are neither tinted nor printed


def shaded_data(
    frame: pd.DataFrame, said: Mapping[Any, str], tint: Tint, open: str = "", headings: Mapping[Any, str] | None = None
) -> dict[str, Any]:
    """Return the data in the format of shaded.schema.json, without the schema's property `key`.

    said: the text above each sentence, keyed by the frame's first column.
    open: tooltip that says what a click on a row does; "": no clicks.
    """
    rows, columns = [], ["text", "gap", "kind", tint.column]
    words = {
        key: list(part[columns].itertuples(index=False, name=None)) for key, part in frame.groupby(frame.columns[0])
    }
    for key, line in said.items():
        text = "".join(f"{' ' * gap}{text}" for text, gap, *_ in words[key])
        row = {"said": line, "dir": "rtl" if right_to_left(text) else "ltr", "words": _words(words[key], tint)}
        heading = {"heading": headings[key]} if headings and key in headings else {}
        rows.append(row | heading)
    return {"version": 1, "open": open, "first": FIRST, "rows": rows}


def _words(rows: Sequence[tuple[str, bool, str, float]], tint: Tint) -> list[dict[str, Any]]:
    """Return a sentence's words. If every word's number is below `tint.level`, only the largest number is printed."""
    largest = max((value for *_, kind, value in rows if kind == "word" and value == value), default=math.inf)
    words = []
    for text, gap, kind, value in rows:
        measured = kind != "chosen" and value == value
        tinted, leads = measured and value >= tint.level, kind == "word" and value == largest < tint.level
        depth = round(100 * max(-1.0, min(1.0, value / tint.deepest))) if tinted else 0
        words.append(
            {
                "text": text,
                "gap": bool(gap),
                "kind": "leader" if leads else kind,
                "depth": depth,
                "number": tint.write(value) if tinted or leads else "",
                "tip": f"{text}: {tint.tip.format(tint.write(value))}" if measured else "",
            }
        )
    return words


def shaded_picture(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a panel's fields `live` and `picture`."""

    def picture(look: Look) -> Spec:
        return shaded(data, look.theme, look.width)

    return {"live": Live("shaded", keyed(data)), "picture": picture}


def keyed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Add the field `key`, a digest of the data. If the key changes, the browser draws the figure again."""
    return {**data, "key": hashlib.sha256(json.dumps(data).encode()).hexdigest()[:16]}
