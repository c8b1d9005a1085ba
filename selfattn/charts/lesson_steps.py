"""Steps of a lesson side by side, above the lines of code that make them: what the cursor is on lights its line."""

from collections.abc import Mapping, Sequence

from selfattn.charts.code_view import code_view, indented, kernel_lines
from selfattn.charts.theme import Theme
from selfattn.charts.two_widths import the_window
from selfattn.charts.vega import Spec, beside, calculate, finish
from selfattn.kernel import AttentionTrace

WIDTH = 700  # pixels of the code, and about those of the pictures above it
NARROW = 300  # of the code's view: its lines and the band behind them reach beyond it where there is room
ASIDE = 110  # the code stands right of the labels of the pictures above it; its band ends where they do
LETTER = 0.61  # of a monospace letter's height: its width


def kernel_code(*names: str, trace: AttentionTrace | None = None) -> dict[str, str]:
    """The kernel's lines that make these (all, where none is named); with a trace, the shape of what each makes beside it."""
    lines = kernel_lines()
    shapes = {name: getattr(getattr(trace, name, None), "shape", None) for name in lines}
    return {name: lines[name] + (f"   # {tuple(shapes[name])}" if shapes[name] else "") for name in names or lines}


def with_code(charts: Mapping[str, tuple[str, Spec]], code: Mapping[str, str], theme: Theme, columns: int = 0) -> Spec:
    """Complete charts beside each other, each with its title, by the name that its line of code makes.

    code: the lines by that name. A chart named "datum.line" has a name a mark. columns: so many charts in a row, if not all.
    """
    whole = beside(*(chart for _, chart in charts.values()))
    views = []
    for name, (title, _), part in zip(charts, charts.values(), whole["hconcat"]):
        part["title"] = {"text": title, "fontSize": 13}
        layer = _main(part)
        layer["name"] = f"on_{name}"
        line = name if name == "datum.line" else f"'{name.split()[0]}'"
        layer["transform"] = [*layer.get("transform", []), *calculate(line=line)]
        views.append(layer["name"])
        printed = any(each["mark"]["type"] == "text" for each in part.get("layer", []))
        if printed and "scale" in layer["encoding"].get("color", {}) and len(charts) > 1:
            layer["encoding"]["color"]["legend"] = None  # beside others the numbers in its cells are enough
    under = {"type": "point", "on": "pointerover", "clear": "pointerout", "fields": ["line"]}
    # Where the window has no room for them side by side: one beneath the other. Vega-Lite hands the signal to Vega as it is.
    fitting = {"signal": f"room < {WIDTH} ? 1 : {columns or len(charts)}"}
    row = {
        "concat": whole.pop("hconcat"),
        "columns": fitting,
        "spacing": 16,
        "resolve": {"scale": {"color": "independent", "strokeDash": "independent"}},
    }
    params = [{"name": "under", "select": under, "views": views}, *the_window()]
    return {**whole, "params": params, "vconcat": [row, _code(code, theme)]}


def values_table(rows: Sequence[tuple[str, str]], theme: Theme) -> Spec:
    """A text a row, with the name of the line that makes it: for `with_code` as "datum.line"."""
    # Vega would draw several spaces as one.
    table = [{"place": at, "line": line, "text": text.replace(" ", "\u00a0")} for at, (line, text) in enumerate(rows)]
    view = code_view(table, "place", "", WIDTH, {"value": 0}, {"value": theme.ink}, color=theme.weights[1])
    return finish({**view, "name": "values"}, theme)


def _main(part: Spec) -> Spec:
    """The layer whose marks the cursor meets: the one with a tooltip that covers most."""
    part = part.get("vconcat", [part])[0]
    layers = part.get("layer", [part])
    solid = [layer for layer in layers if layer["mark"]["type"] in ("bar", "rect")]
    return solid[0] if solid else [layer for layer in layers if "tooltip" in layer["encoding"]][-1]


def _code(code: Mapping[str, str], theme: Theme) -> Spec:
    rows = [{"place": at, "line": name, "text": indented(text)} for at, (name, text) in enumerate(code.items())]
    lit = {"condition": {"param": "under", "empty": False, "value": 1}, "value": 0}
    look = {"color": theme.weights[1], "cornerRadius": 3, "x2": {"expr": f"min({WIDTH}, room - {ASIDE})"}}
    longest = LETTER * max(len(text) for text in code.values())
    size = {"expr": f"min(12, (room - 12) / {longest:.1f})"}  # the whole line stands there in a narrow window, too
    return code_view(rows, "place", "The code that makes it", NARROW, lit, {"value": theme.ink}, size, **look)
