"""Test that every chart places each mark at its own axis label."""

import importlib
import inspect
import pkgutil
from types import SimpleNamespace

import altair as alt
import numpy as np
import pandas as pd
import pytest
import torch

from selfattn import charts
from selfattn.charts.labels import LABELS
from selfattn.charts.theme import LIGHT
from selfattn.charts.vega import Spec
from selfattn.tidy_tables import heads_frame
from tests.charts.scene import misplaced

# All public functions that make a chart
draw = SimpleNamespace()
for file in {found.name for found in pkgutil.iter_modules(charts.__path__)} - {"labels", "theme", "vega"}:
    module = importlib.import_module(f"{charts.__name__}.{file}")
    for name, function in inspect.getmembers(module, inspect.isfunction):
        makes, own = inspect.signature(function).return_annotation, function.__module__ == module.__name__
        if own and name[0] != "_" and makes in (Spec, dict[str, Spec], inspect._empty):
            setattr(draw, name, function)

WORDS = [f"token{i}" for i in range(24)]
VALUES = [round(0.95 - i / 50, 2) for i in range(24)]  # all different
WRITTEN = [f"{value:.2f}" for value in VALUES]
FEW = ["some", "more", "words"]
HEADS = heads_frame(effect=torch.linspace(-0.4, 1.0, 15).reshape(3, 5))


def cells(rows, columns):
    return {"y": [row for row in rows for _ in columns], "x": [*columns] * len(rows)}


def joined(*groups):
    return {along: [label for group in groups for label in group[along]] for along in groups[0]}


def a_map(n=LABELS):
    rows = [f"row{i}" for i in range(n)]
    spec = draw.heatmap(np.arange(n * 3).reshape(n, 3), rows, LIGHT, columns=FEW, marked=[3, 4])
    marks = cells(rows, FEW) if n <= 64 else {"y": rows, "x": [1] * n}
    picture = {} if n <= 64 else {"image": {"x": [1], "y": [(n - 1) / 2]}}
    return spec, {"x": FEW, "y": rows, "rect": joined(marks, {"y": [3.5], "x": [1]}), **picture}


def a_table():
    rows, numbers = WORDS[:12], np.arange(36).reshape(12, 3) / 36
    spec, each = draw.heatmap(numbers, rows, LIGHT, columns=FEW, cell=36, marked=[2]), cells(rows, FEW)
    marks = {
        "rect": joined(each, {"y": ["token2"], "x": [1]}),
        "text": {**each, "text": [f"{n:.2f}" for n in numbers.flat]},
    }
    return spec, {"x": FEW, "y": rows, **marks}


def with_gaps():
    """Draw a heatmap whose first two rows and columns have no numbers."""
    matrix = np.eye(24)
    matrix[:2] = matrix[:, :2] = np.nan
    spec = draw.heatmap(matrix, WORDS, LIGHT, kind="signed", marked=[2])
    bands = {"x": [11.5], "y": ["token2"]}
    return spec, {"x": WORDS, "y": WORDS, "rect": joined(cells(WORDS[2:], WORDS[2:]), bands)}


def heads_with(chosen):
    heads, layers = list("01234"), list("012")
    return {"x": heads, "y": layers, "rect": joined(cells(layers, heads), {"y": [chosen[1]], "x": [chosen[4]]})}


def some_arrows():
    kinds = {"kind": ["query", "key", "key", "key"], "label": ["its", "if", "crane", "wings"]}
    frame = pd.DataFrame({"x": [3, 0, -2, 3], "y": [4, 2, -2, 4], "score": [1, 0.5, -1, 0.2], **kinds})
    # The arrows of "its" and "wings" have the same direction, so "wings" is moved sideways by 3 % of the axis length.
    aside = [0.03 * (6 + 2 * 0.18 * 6) * part for part in (0.8, -0.6)]
    tips = {"x": [0, -2, 3 + aside[0], 3], "y": [2, -2, 4 + aside[1], 4]}
    ends = {"x1": [0, 0, aside[0], 0], "y1": [0, 0, aside[1], 0], "x2": tips["x"], "y2": tips["y"]}
    texts = {along: [*tips[along][:3] * 2, *tips[along][3:] * 2] for along in "xy"}
    texts["text"] = ["if", "crane", ""] * 2 + ["its, wings"] * 2
    return draw.arrows(frame, LIGHT, "score", "query"), {"rule": ends, "symbol": joined(tips, tips), "text": texts}


def some_moves():
    columns = {"x0": [0.0, 1.0], "y0": [0.0, 1.0], "x": [2.0, 1.0], "y": [2.0, -1.0]}
    frame = pd.DataFrame({**columns, "label": ["A", "B"], "colour": LIGHT.ink})
    spec = draw.moves(frame, LIGHT, ((0.0, 2.0), (-1.0, 2.0)), ("money", "water"))
    tips = {"x": [2, 1], "y": [2, -1]}
    ends = {"x1": [0, 1], "y1": [0, 1], "x2": tips["x"], "y2": tips["y"]}
    return spec, {"rule": ends, "symbol": tips, "text": tips | {"text": ["A", "B"]}}


def a_list(words=WORDS):
    values = VALUES[: len(words)]
    spec = draw.bar_list(pd.DataFrame({"token": words, "score": values}), "score", LIGHT)
    return spec, {"y": words, "rect": {"y": words}, "text": {"y": words, "text": WRITTEN[: len(words)]}, "rule": {}}


def intervals():
    own = pd.DataFrame(
        {"group": ["", *["group"] * 3], "label": WORDS[:4], "series": "", "value": VALUES[:4], "low": 0.1, "high": 1.0}
    )
    spec = draw.dots(own, LIGHT, ("guessing", 0.5), width=600)
    rows, places = [*WORDS[:1], "group", *WORDS[1:4]], {"y": WORDS[:4]}
    text = {"y": [None, *WORDS[:4]], "text": ["guessing", *(f"{value:.0%}".replace("%", " %") for value in VALUES[:4])]}
    marks = {"symbol": places, "rule": {"y": [None, *WORDS[:4]]}, "text": text}
    return spec, {"x": ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"], "y": rows, **marks}


def differences():
    """Draw two positive differences, and a negative difference with the longest bar."""
    frame = pd.DataFrame({"label": FEW, "first": [0.5, 0.1, 0.4], "second": [0.3, 0.7, 0.0]})
    frame["difference"] = frame["first"] - frame["second"]
    spec = draw.difference_bars(frame, LIGHT, ["one", "other"], title="", places=2, width=600)
    texts = {"y": [FEW[0], FEW[2], FEW[1]], "text": ["+0.20", "+0.40", "−0.60"]}
    return spec, {"y": FEW, "rect": {"y": FEW}, "rule": {"y": [None]}, "text": texts}


def powers():
    points = {"x": [1, 4, 16, 64], "y": [1, 10, 100, 1000]}
    return draw.lines(pd.DataFrame(points), "x", "y", LIGHT, log="xy"), {"line": points, "symbol": points}


# Each key begins with the name of a chart function in `draw`.
CHARTS = {
    "arrows": some_arrows,
    "bar_list": a_list,
    "difference_bars": differences,
    "dots": intervals,
    "head_map": lambda: (draw.head_map(HEADS, "effect", LIGHT, "L1 H3"), heads_with("L1 H3")),
    "heatmap": a_map,
    "heatmap, a picture": lambda: a_map(n=100),
    "heatmap, a table": a_table,
    "heatmap, with gaps": with_gaps,
    "lines": powers,
    "moves": some_moves,
}  # fmt: skip
PARTS = {
    "shaded": "has no axes; tests/views/test_shaded.py tests its places",
    "similar": "has no axes of its own; tests/views/test_similar.py tests its places",
    "token_axes": "is part of heatmap",
    "kernel_figure": "has no axes; tests/charts/test_kernel_figure.py tests its places",
    "strips": "has no axes; tests/charts/test_strips.py tests its places",
    "product": "has no axes; tests/views/test_inside_a_head.py tests its numbers",
    "head_grid": "has no axes; tests/charts/test_head_map.py tests its places",
    "hops": "has no axes; tests/pages/test_learn_pages.py tests its places",
    "way": "has no axes; tests/charts/test_way.py tests its places",
    "share": "has no axes; tests/charts/test_way.py tests its places",
}


def for_the_schema(spec):
    """Replace the parts of a spec that Vega-Lite's schema doesn't allow."""
    params = [{"name": param["name"], "value": 1440} if "init" in param else param for param in spec["params"]]
    rows = {"vconcat": [{**part, "columns": 3} if "columns" in part else part for part in spec.get("vconcat", ())]}
    return {**spec, "params": params, **(rows if rows["vconcat"] else {"columns": 3})}


@pytest.mark.parametrize("name", CHARTS)
def test_marks_are_at_their_axis_labels(name):
    spec, *views = CHARTS[name]()
    follows_the_window = any("init" in param for param in spec.get("params", ()))
    alt.Root.validate(for_the_schema(spec) if follows_the_window else spec)
    assert not misplaced(spec, *views)


def test_every_chart_is_tested():
    assert vars(draw).keys() == {name.split(",")[0] for name in CHARTS} | PARTS.keys()
