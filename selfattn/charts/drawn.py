"""The numbers behind a picture: a chart's records, read back from its Vega-Lite dict."""

from collections.abc import Iterator
from typing import Any

import pandas as pd


def drawn_frame(spec: dict[str, Any]) -> pd.DataFrame:
    """The records that a Vega-Lite dict draws, as one table; of several datasets the column `part` says which.

    Pictures inside the data (an n x n map travels as an image) are left out: whoever draws one knows its numbers.
    """
    frames: list[pd.DataFrame] = []
    for records in _datasets(spec, spec.get("datasets", {})):
        frame = _without_pictures(pd.DataFrame(records))
        if len(frame.columns) and not any(frame.equals(other) for other in frames):
            frames.append(frame)
    if len(frames) < 2:
        return frames[0] if frames else pd.DataFrame()
    return pd.concat([frame.assign(part=part) for part, frame in enumerate(frames, start=1)], ignore_index=True)


def drawn_title(spec: dict[str, Any]) -> str:
    """What stands above the picture, or "": its own title, or that of its first part that has one."""
    title = spec.get("title")
    text = title.get("text") if isinstance(title, dict) else title
    if isinstance(text, str) and text.strip():
        return " ".join(text.split())
    parts = [part for kind in ("vconcat", "hconcat", "layer") for part in spec.get(kind, ())]
    return next((found for part in parts if (found := drawn_title(part))), "")


def _datasets(part: Any, named: dict[str, list]) -> Iterator[list]:
    """Each dataset that some part of the chart draws, in the order of the parts."""
    if isinstance(part, list):
        for one in part:
            yield from _datasets(one, named)
    elif isinstance(part, dict):
        data = part.get("data")
        if isinstance(data, dict):
            values = data.get("values", named.get(data.get("name", ""), []))
            yield [value if isinstance(value, dict) else {"value": value} for value in values]
        for kind in ("vconcat", "hconcat", "layer", "spec"):
            yield from _datasets(part.get(kind), named)


def _without_pictures(frame: pd.DataFrame) -> pd.DataFrame:
    pictures = [name for name in frame if frame[name].map(lambda v: isinstance(v, str) and v.startswith("data:")).all()]
    return frame.drop(columns=pictures) if len(frame) else pd.DataFrame()
