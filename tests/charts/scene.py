"""What a chart draws, as Vega lays it out: every mark with its place, its colour and its text, whatever the spec's style."""

import re

import vl_convert as vlc


def drawn(spec, kind, role="mark"):
    """The items of one kind of mark ("rect", "text", "rule" ...), in drawing order, x and y from the chart's corner.

    role: "mark" for the data, "axis-label", "axis-title", "legend-label", "legend-title", "title-text" for the rest.
    """
    found = []

    def walk(node, left, top):
        for item in node.get("items", []):
            if node.get("marktype") == "group":
                for inner in item.get("items", []):
                    walk(inner, left + (item.get("x") or 0), top + (item.get("y") or 0))
            elif node.get("marktype") == kind and node.get("role") == role:
                places = {"x": left + item.get("x", 0), "y": top + item.get("y", 0)}
                ends = {key: item[key] + offset for key, offset in (("x2", left), ("y2", top)) if key in item}
                found.append({**item, **places, **ends})

    walk(vlc.vegalite_to_scenegraph(spec)["scenegraph"], 0, 0)
    return found


def texts(spec, role="mark"):
    return [item["text"] for item in drawn(spec, "text", role)]


def rgb(color):
    """A colour as three numbers, from "#174f97" or "rgb(23, 79, 151)"."""
    if color.startswith("#"):
        return tuple(int(color[i : i + 2], 16) for i in (1, 3, 5))
    return tuple(int(part) for part in re.findall(r"\d+", color)[:3])


def on_ramp(ramp, share):
    """The colour at a share (0 to 1) of a ramp of hex colours, straight between its stops."""
    place = min(max(share, 0), 1) * (len(ramp) - 1)
    first = min(int(place), len(ramp) - 2)
    part = place - first
    return tuple(a + (b - a) * part for a, b in zip(rgb(ramp[first]), rgb(ramp[first + 1])))


def same_color(one, other):
    one, other = (rgb(color) if isinstance(color, str) else color for color in (one, other))
    return all(abs(a - b) <= 1.5 for a, b in zip(one, other))


def tooltip(spec, number=0):
    """The tooltip of the first mark that has one (or a later one): the titles of its entries, in order."""
    entries = []

    def walk(part):
        if isinstance(part, dict):
            shown = part.get("encoding", {}).get("tooltip")
            if shown:
                entries.append(shown if isinstance(shown, list) else [shown])
            for value in part.values():
                walk(value)
        elif isinstance(part, list):
            for value in part:
                walk(value)

    walk({key: value for key, value in spec.items() if key != "datasets"})
    return [entry.get("title") or entry["field"] for entry in entries[number]]
