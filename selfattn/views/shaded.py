"""Sentences whose words are tinted by a number: the data of the component `shaded`, and its panel."""

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

FIRST = 8  # rows that are shown at first


@dataclass(frozen=True, eq=False)
class Tint:
    """The words' number and its look."""

    column: str  # of the frame
    write: Callable[[float], str]
    tip: str  # "{} of the way": what the tooltip says of the number
    deepest: float  # the number with the deepest tint
    level: float = -math.inf  # words are tinted, and their numbers printed, from here on


def shaded_data(
    frame: pd.DataFrame, said: Mapping[Any, str], tint: Tint, open: str = "", headings: Mapping[Any, str] | None = None
) -> dict[str, Any]:
    """By shaded.schema.json, without a key. frame: tidy_tables.shaded_frame or explained_words_frame, keyed by `said`.

    said: the line above each sentence. open: what a click on a row does; "": nothing.
    headings: above some of the rows.
    """
    rows, columns = [], ["text", "gap", "kind", tint.column]
    own = {key: list(part[columns].itertuples(index=False, name=None)) for key, part in frame.groupby(frame.columns[0])}
    for key, line in said.items():
        text = "".join(f"{' ' * gap}{text}" for text, gap, *_ in own[key])
        row = {"said": line, "dir": "rtl" if right_to_left(text) else "ltr", "words": _words(own[key], tint)}
        heading = {"heading": headings[key]} if headings and key in headings else {}
        rows.append(row | heading)
    return {"version": 1, "open": open, "first": FIRST, "rows": rows}


def _words(own: Sequence[tuple[str, bool, str, float]], tint: Tint) -> list[dict[str, Any]]:
    largest = max((value for *_, kind, value in own if kind == "word" and value == value), default=math.inf)
    words = []
    for text, gap, kind, value in own:
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
    """The live figure and the picture of a panel."""

    def picture(look: Look) -> Spec:
        return shaded(data, look.theme, look.width)

    key = hashlib.sha256(json.dumps(data).encode()).hexdigest()[:16]
    return {"live": Live("shaded", {**data, "key": key}), "picture": picture}
