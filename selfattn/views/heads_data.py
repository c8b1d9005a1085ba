"""Make the data of the component `heads` (dashboard/components/heads.schema.json)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from selfattn.charts.head_map import HOW
from selfattn.encoders.capture import Head
from selfattn.numbers import decimal


def plain_heads(layers: int, heads: int, chosen: Head, label: str) -> dict[str, Any]:
    """Return the data of a map without numbers, for choosing a head."""
    return {
        "version": 1,
        "key": f"{layers} x {heads}",
        "layers": layers,
        "heads": heads,
        "chosen": chosen.layer * heads + chosen.head,
        "clicks": True,
        "label": label,
        "kind": "plain",
        "depths": "",
        "said": [],
        "scale": None,
        "maps": None,
    }


def heads_data(
    frame: pd.DataFrame,
    measure: str,
    chosen: Head | str,
    *,
    kind: str = "effect",
    title: str | Sequence[str] = "effect of removing",
    unit: str = "",
    maps: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the data of a map whose heads are coloured by a measure.

    kind: "weights" for numbers that are never negative; other kinds give each sign its own colour.
    maps: every head's attention map, as in heads.schema.json.
    """
    frame = frame.sort_values(["layer", "head"])
    values, names = frame[measure].tolist(), frame["name"].tolist()
    largest = max((abs(value) for value in values if value == value), default=0.0) or 1.0
    share, signed = measure == "share", kind != "weights"
    places = max(1 if share else 2 + signed, 1 - math.floor(math.log10(100 * largest if share else largest)))

    def write(value: float) -> str:
        if value != value:
            return ""
        number = decimal(100 * value if share else value, places, "+" if signed else "")
        return number + ("\u00a0%" if share else f" {unit}".rstrip())

    about = title if isinstance(title, str) else ", ".join(title)
    ways = [f" ({way})" for way in frame[HOW]] if HOW in frame else [""] * len(frame)
    layers, heads = (int(frame[column].nunique()) for column in ("layer", "head"))
    return {
        **plain_heads(layers, heads, Head(0, 0), f"All heads: {about}"),
        "chosen": names.index(str(chosen)) if str(chosen) in names else -1,
        "kind": "effect" if signed else "weights",
        "depths": ",".join("" if value != value else str(round(100 * value / largest)) for value in values),
        "said": [(write(value) + way).strip() for value, way in zip(values, ways)],
        "scale": {"low": write(-largest) if signed else "0", "high": write(largest), "about": about},
        "maps": maps,
    }
