"""Build Vega-Lite charts from parts, and read the numbers of finished charts.

Charts are plain dicts, because Altair takes 20 to 100 ms for each chart.
"""

import base64
import io
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from selfattn.charts.theme import Theme, vega_config

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
PNG_URI = "data:image/png;base64,"

Spec = dict[str, Any]  # Vega-Lite

# Whole charts


def finish(spec: Spec, theme: Theme) -> Spec:
    """Add Vega-Lite's schema and the theme to a chart. The chart's width and height exclude its axes."""
    common = {"$schema": SCHEMA, "config": vega_config(theme), "autosize": {"type": "pad", "contains": "content"}}
    return {**common, **spec}


def layered(
    layers: list[Spec], datasets: dict[str, pd.DataFrame | list], theme: Theme, width: float, height: float, **more: Any
) -> Spec:
    """Return a chart made of Vega-Lite layers. datasets: frames or records, by name."""
    data = {name: rows if isinstance(rows, list) else records(rows) for name, rows in datasets.items()}
    return finish({"datasets": data, "layer": layers, "width": width, "height": height, **more}, theme)


def fluid(chart: Spec, width: int | None) -> Spec:
    """Return the chart `width` pixels wide, axes included (None: the container's width)."""
    sized = {"width": width or "container", "autosize": {"type": "fit-x", "contains": "padding"}}
    config = {**chart["config"], "view": {**chart["config"]["view"], "continuousWidth": chart["width"]}}
    return {**chart, **sized, "config": config}


def beside(*charts: Spec) -> Spec:
    """Join charts side by side. They share one colour scale and one legend."""
    return {**{key: charts[0][key] for key in _WHOLE}, "hconcat": [_part(chart) for chart in charts]}


NARROW = 760  # pixels: a narrower window has one chart in a row


def in_rows(charts: Mapping[str, Spec], columns: int = 0) -> Spec:
    """Join charts, each below its title, with `columns` charts in a row (0: all).

    The signal `window_width` isn't valid in Vega-Lite's schema, but Vega-Lite passes it on to Vega.
    """
    size = "windowSize()[0] > 0 ? windowSize()[0] : 1440"  # 0: there is no window
    resized = {"events": {"source": "window", "type": "resize"}, "update": size}
    titled = [{**_part(chart), "title": {"text": title, "fontSize": 13}} for title, chart in charts.items()]
    return {
        **{key: next(iter(charts.values()))[key] for key in _WHOLE},
        "params": [{"name": "window_width", "init": size, "on": [resized]}],
        "concat": titled,
        "columns": {"signal": f"window_width < {NARROW} ? 1 : {columns or len(charts)}"},
        "spacing": 16,
        "resolve": {"scale": {"color": "independent", "strokeDash": "independent"}},
    }


_WHOLE = ("$schema", "config", "autosize")


def _part(chart: Spec) -> Spec:
    datasets = chart.get("datasets", {})

    def inline(part: Any) -> Any:
        if isinstance(part, list):
            return [inline(one) for one in part]
        if not isinstance(part, dict):
            return part
        if part.get("name") in datasets and len(part) == 1:
            return {"values": datasets[part["name"]]}
        # In a concatenated chart, the expressions "width" and "height" give the whole figure's size.
        if len(part) == 1 and part.get("expr") in ("width", "height"):
            return chart[part["expr"]]
        return {key: inline(value) for key, value in part.items()}

    return inline({key: value for key, value in chart.items() if key not in ("datasets", *_WHOLE)})


# Parts of a chart's spec


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as JSON values, with None for NaN and infinity."""
    columns = [frame[name].tolist() for name in frame]
    for i, name in enumerate(frame):
        if frame[name].dtype.kind == "f":
            columns[i] = [value if math.isfinite(value) else None for value in columns[i]]
    return [dict(zip(frame.columns, row)) for row in zip(*columns)]


def marks(kind: str, encoding: Spec, data: str = "", transform: Sequence[Spec] = (), **look: Any) -> Spec:
    """Return a layer of marks. data: the name of the layer's dataset ("": the chart's own dataset)."""
    layer = {"mark": {"type": kind, **look}, "encoding": encoding}
    if data:
        layer["data"] = {"name": data}
    return {**layer, "transform": list(transform)} if transform else layer


def field(name: str, kind: str = "quantitative", **more: Any) -> Spec:
    """Return a channel or tooltip entry for a column. kind: the Vega-Lite type."""
    return {"field": name, "type": kind, **more}


def nominal(name: str, **more: Any) -> Spec:
    """Return a channel or tooltip entry for a column of texts."""
    return field(name, "nominal", **more)


def calculate(**fields: str) -> list[Spec]:
    """Return transforms that compute columns from Vega expressions."""
    return [{"calculate": formula, "as": name} for name, formula in fields.items()]


def either(test: str, value: Any, otherwise: Any) -> Spec:
    """Return a channel with `value` where the Vega expression `test` is true, else with `otherwise`."""
    return {"condition": {"test": test, "value": value}, "value": otherwise}


def span(*domain: float, reverse: bool = False) -> Spec:
    """Return an axis scale with exactly these ends."""
    return {"domain": list(domain), "nice": False, "zero": False, **({"reverse": True} if reverse else {})}


def scale(theme: Theme, kind: str, maximum: float) -> Spec:
    """Return a colour scale.

    "weights" and "shares" start at 0; "signed" and "effect" are centred on 0.
    """
    colors = list(theme.effect[2:] if kind == "shares" else getattr(theme, kind))
    low = -maximum if kind in ("signed", "effect") else 0.0
    domain = np.linspace(low, maximum or 1.0, len(colors)).tolist()
    return {"domain": domain, "range": colors, "clamp": True, "interpolate": "rgb"}


def hues(colors: dict[str, str]) -> Spec:
    """Return a scale from names to colours."""
    return {"domain": list(colors), "range": list(colors.values())}


def palette(ramp: Sequence[str]) -> list[int]:
    """Return 256 RGB colours along a ramp, in one flat list."""
    stops = np.array([[int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in ramp], float)
    places = np.linspace(0, len(ramp) - 1, 256)
    channels = [np.interp(places, range(len(ramp)), stops[:, channel]) for channel in range(3)]
    return np.stack(channels, 1).round().astype(int).ravel().tolist()


def see_through(levels: np.ndarray) -> str:
    """Return a black PNG in a data URI. levels (n, m): each pixel's opacity, 0 to 255."""
    opacity = Image.fromarray(levels.astype(np.uint8))
    return _png(Image.merge("LA", (Image.new("L", opacity.size), opacity)), optimize=True)


def picture(levels: np.ndarray, ramp: Sequence[str]) -> str:
    """Return a coloured PNG in a data URI. levels (n, m): each pixel's place along the ramp, 0 to 255."""
    image = Image.fromarray(levels.astype(np.uint8), mode="P")
    image.putpalette(palette(ramp))
    return _png(image, optimize=False)


def _png(image: Image.Image, optimize: bool) -> str:
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", optimize=optimize)
    return PNG_URI + base64.b64encode(buffer.getvalue()).decode()


def backdrop(encoding: Spec, data: str) -> Spec:
    """Return a chart layer that draws the picture whose URL is in a dataset's column `url`."""
    size = {"width": {"expr": "width"}, "height": {"expr": "height"}}
    return marks("image", {**encoding, "url": nominal("url")}, data, aspect=False, align="left", baseline="top", **size)


# Reading the numbers from a chart's spec


def drawn_frame(spec: dict[str, Any]) -> pd.DataFrame:
    """Return a chart's records without the columns that hold pictures.

    If there are several datasets, the column `part` numbers them.
    """
    frames: list[pd.DataFrame] = []
    for records in _datasets(spec, spec.get("datasets", {})):
        frame = _without_pictures(pd.DataFrame(records))
        if len(frame.columns) and not any(frame.equals(other) for other in frames):
            frames.append(frame)
    if len(frames) < 2:
        return frames[0] if frames else pd.DataFrame()
    return pd.concat([frame.assign(part=part) for part, frame in enumerate(frames, start=1)], ignore_index=True)


def _datasets(part: Any, named: dict[str, list]) -> Iterator[list]:
    if isinstance(part, dict):
        if isinstance(data := part.get("data"), dict):
            values = data.get("values", named.get(data.get("name", ""), []))
            yield [value if isinstance(value, dict) else {"value": value} for value in values]
        for one in itertools.chain(*(part.get(kind, ()) for kind in ("vconcat", "hconcat", "concat", "layer"))):
            yield from _datasets(one, named)


def _without_pictures(frame: pd.DataFrame) -> pd.DataFrame:
    pictures = [name for name in frame if frame[name].map(lambda v: isinstance(v, str) and v.startswith("data:")).all()]
    return frame.drop(columns=pictures) if len(frame) else pd.DataFrame()
