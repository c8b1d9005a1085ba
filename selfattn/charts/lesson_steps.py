"""Steps of a lesson side by side, above the lines of code that make them: what the cursor is on lights its line."""

from collections.abc import Mapping, Sequence

from selfattn.charts.kernel_steps import code_lines, code_view
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, beside, calculate, either
from selfattn.kernel import AttentionTrace

WIDTH = 700  # pixels of the code, and about those of the pictures above it


def kernel_code(trace: AttentionTrace | None = None) -> dict[str, str]:
    """The kernel's lines by the name that each makes; with a trace, the shape of that beside it."""
    lines = {line["text"].split(" = ")[0]: line["text"] for line in code_lines()}
    shapes = {name: getattr(getattr(trace, name, None), "shape", None) for name in lines}
    return {name: text + (f"   # {tuple(shapes[name])}" if shapes[name] else "") for name, text in lines.items()}


def with_code(
    charts: Mapping[str, tuple[str, Spec]], code: Mapping[str, str], now: Sequence[str], theme: Theme
) -> Spec:
    """Complete charts beside each other, each with its title, by the name that its line of code makes.

    code: the lines by that name; now: those that this step is about, in ink.
    """
    whole = beside(*(chart for _, chart in charts.values()))
    views = []
    for name, (title, _), part in zip(charts, charts.values(), whole["hconcat"]):
        part["title"] = {"text": title, "fontSize": 13}
        layer = _main(part)
        layer["name"] = f"on_{name}"
        layer["transform"] = [*layer.get("transform", []), *calculate(line=f"'{name.split()[0]}'")]
        views.append(layer["name"])
        if "scale" in layer["encoding"].get("color", {}):
            layer["encoding"]["color"]["legend"] = None  # its numbers are printed
    under = {"type": "point", "on": "pointerover", "clear": "pointerout", "fields": ["line"]}
    row = {"hconcat": whole.pop("hconcat"), "spacing": 16, "resolve": {"scale": {"color": "independent"}}}
    params = [{"name": "under", "select": under, "views": views}]
    return {**whole, "params": params, "vconcat": [row, _code(code, now, theme)]}


def _main(part: Spec) -> Spec:
    """The layer whose marks the cursor meets: the one with a tooltip that covers most."""
    layers = part.get("layer", [part])
    solid = [layer for layer in layers if layer["mark"]["type"] in ("bar", "rect")]
    return (solid or [layer for layer in layers if "tooltip" in layer["encoding"]])[-1 if not solid else 0]


def _code(code: Mapping[str, str], now: Sequence[str], theme: Theme) -> Spec:
    rows = [
        {"place": at, "line": name, "text": text, "now": name in now} for at, (name, text) in enumerate(code.items())
    ]
    lit = {"condition": {"param": "under", "empty": False, "value": 1}, "value": 0}
    ink, look = either("datum.now", theme.ink, theme.muted), {"color": theme.weights[1], "cornerRadius": 3}
    return code_view(rows, "place", "The code that makes it", WIDTH, lit, ink, **look)
