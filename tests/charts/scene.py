"""Read every mark that Vega draws."""

import json
import math
import re
from functools import lru_cache

import numpy as np
import vl_convert as vlc

ORIENTS = {"x": ("top", "bottom"), "y": ("left", "right")}


def laid_out(spec):
    """Yield (view, orient, mark type, role, item) for each item of Vega's scene.

    view: the name of a part of the chart. orient: the side on which the item's axis is ("left", "top" ...).
    """

    def walk(node, left, top, view, orient):
        if node.get("name", "").endswith("_group"):
            view = node["name"]
        for item in node.get("items", []):
            if node.get("marktype") == "group":
                for inner in item.get("items", []):
                    corner = left + (item.get("x") or 0), top + (item.get("y") or 0)
                    yield from walk(inner, *corner, view, item.get("orient"))
            else:
                places = {"x": left + item.get("x", 0), "y": top + item.get("y", 0)}
                ends = {key: item[key] + offset for key, offset in (("x2", left), ("y2", top)) if key in item}
                yield view, orient, node["marktype"], node["role"], {**item, **places, **ends}

    return walk(scene_of(json.dumps(spec)), 0, 0, "", None)


@lru_cache(maxsize=4)  # one test reads several kinds of marks from one chart
def scene_of(spec):
    """Return Vega's scene. The result is cached, so don't change it."""
    return vlc.vegalite_to_scenegraph(spec)["scenegraph"]


def drawn(spec, kind, role="mark"):
    """Return the items of one mark type ("rect", "text" ...).

    role: "mark" for data, or "axis-label", "legend-title" ...
    """
    return [item for _, _, a_kind, a_role, item in laid_out(spec) if (a_kind, a_role) == (kind, role)]


def misplaced(spec, *views):
    """Return a message for each mark that is more than a pixel from its expected place.

    views: for each part of the chart, a dict such as {"y": ["a", "b"], "rect": {"y": ["a", "b"]}}.
    - "x", "y": the axis labels from left to right and from top to bottom (left out if the axis has numbers).
    - Any other key is a type of mark. Its value has the places of the marks' middles ("x", "y") or ends ("x1", "x2" ...),
      or the marks' texts ("text").

    A place is a label, a number on the axis, (label, pixels beyond the label), or None to skip the check.
    """
    found, parts = [], {}
    for view, *item in laid_out(spec):
        parts.setdefault(view, []).append(item)
    parts = [items for items in parts.values() if any(role == "mark" for _, _, role, _ in items)]
    for part, (items, expected) in enumerate(zip(parts, views, strict=True)):
        place = {along: _places(items, along, expected.get(along)) for along in "xy"}
        for kind in {kind for _, kind, role, _ in items if role == "mark"} | expected.keys() - {"x", "y"}:
            marks = [item for _, a_kind, role, item in items if (a_kind, role) == (kind, "mark")]
            for along, labels in expected[kind].items():
                for number, (mark, label) in enumerate(zip(marks, labels, strict=True)):
                    if along == "text":
                        wrong = mark["text"] != label and mark["text"]
                    elif label is None:
                        continue
                    else:
                        near, beyond = label if isinstance(label, tuple) else (label, 0)
                        off = _end(mark, along) - place[along[0]](near) - beyond
                        wrong = abs(off) > 1 and f"{off:.1f} pixels off"
                    if wrong:
                        found.append(f"view {part}, {kind} {number} along {along}, of {label}: {wrong}")
    return found


def _end(mark, along):
    """Return a mark's coordinate in pixels. along: "x" or "y" for the middle; "x1", "x2", "y1" or "y2" for an end."""
    axis, end = along[0], along[1:]
    first = mark[axis]
    last = mark.get(f"{axis}2", first + mark.get({"x": "width", "y": "height"}[axis], 0))
    return {"": (first + last) / 2, "1": first, "2": last}[end]


def _places(items, along, names):
    """Return a function from a label to its position in pixels."""
    shown = {
        item.get("text"): item[along]
        for orient, _, role, item in items
        if role == "axis-label" and orient in ORIENTS[along] and item.get("opacity", 1)
    }
    if shown and names is None:
        known, order = shown, sorted(shown, key=number, reverse=along == "y")
    elif shown:
        known, order = shown, list(names[:: -(-len(names) // len(shown))])
    else:
        shown = {str(item["text"]): item[along] for _, kind, _, item in reversed(items) if kind == "text"}
        known, order = {text: place for text, place in shown.items() if text in (names or ())}, list(names or ())
    assert sorted(known, key=known.get) == order, f"expected the labels {order} along {along}, got {sorted(known)}"
    at = [number(text) if names is None else names.index(text) for text in known]

    def place(label):
        if label in shown:
            return shown[label]
        value, pixels = names.index(label) if isinstance(label, str) else label, list(known.values())
        for stretch in (float, math.log)[: 1 + (min(at) > 0)]:  # an axis is linear or logarithmic
            slope, start = np.polyfit([*map(stretch, at)], pixels, 1)
            if np.allclose(slope * np.array([*map(stretch, at)]) + start, pixels, atol=1):
                return slope * stretch(value) + start
        raise AssertionError(f"The labels along {along} are not evenly spaced: {known}")

    return place


def number(text):
    return float(text.replace("−", "-").replace(",", ""))


def texts(spec, role="mark"):
    return [item["text"] for item in drawn(spec, "text", role)]


def rgb(color):
    if color.startswith("#"):
        return tuple(int(color[i : i + 2], 16) for i in (1, 3, 5))
    return tuple(int(part) for part in re.findall(r"\d+", color)[:3])


def on_ramp(ramp, share):
    """Return a ramp's colour at `share` (0: its start, 1: its end)."""
    place = min(max(share, 0), 1) * (len(ramp) - 1)
    first = min(int(place), len(ramp) - 2)
    part = place - first
    return tuple(a + (b - a) * part for a, b in zip(rgb(ramp[first]), rgb(ramp[first + 1])))


def same_color(one, other):
    one, other = (rgb(color) if isinstance(color, str) else color for color in (one, other))
    return all(abs(a - b) <= 1.5 for a, b in zip(one, other))
