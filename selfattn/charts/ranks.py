"""Words in order: what each of several methods puts first, and words by how well their senses are separated."""

from collections.abc import Mapping

import pandas as pd

from selfattn.charts.labels import LABELS, expression, label_axis
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, calculate, field, hues, layered, marks, nominal, span
from selfattn.numbers import WEIGHT

METHOD_SHAPES = ("circle", "square", "triangle-up")


def rank_chart(frame: pd.DataFrame, methods: Mapping[str, str], theme: Theme) -> Spec:
    """What each method puts first: a word a row, a mark a method at its rank, joined from the first to the last.

    frame: word, and for each method its number and "<method> rank". methods: method -> colour.
    """
    n = len(frame)
    words = frame["word"].tolist()
    aside = dict(zip(methods, (-0.16, 0.0, 0.16)))  # equal ranks stay side by side
    parts = [
        pd.DataFrame({"i": range(n), "method": m, "rank": frame[f"{m} rank"], "value": frame[m]}).assign(
            at=lambda part, m=m: part["i"] + aside[m]
        )
        for m in methods
    ]
    small = {"labelLimit": 110, "labelFontSize": 13 if n < 30 else 10, "minExtent": 60}
    down = {"scale": span(-0.6, n - 0.4, reverse=True), "axis": label_axis(words, every=-(-n // LABELS) or 1, **small)}
    across = {"scale": span(0.5, n + 0.5)}
    axis = {"title": "rank (1: contributes most)", "tickMinStep": 1, "tickCount": min(n, 10), "orient": "top"}
    ends = [{"op": "min", "field": "rank", "as": "first"}, {"op": "max", "field": "rank", "as": "last"}]
    joined = {"y": field("i", **down), "x": field("first", **across), "x2": {"field": "last"}}
    shapes = dict(zip(methods, METHOD_SHAPES))
    mark = {
        "x": field("rank", axis=axis, **across),
        "y": field("at", **down),
        "color": nominal("method", scale=hues(dict(methods)), legend={"title": None, "orient": "bottom", "columns": 3}),
        "shape": nominal("method", scale=hues(shapes)),
        "tooltip": [nominal("word"), nominal("method"), field("rank"), field("value", format="+.4~f")],
    }
    spelled = calculate(word=f"{expression(words)}[datum.i]")
    layers = [
        marks("rule", joined, "", [{"aggregate": ends, "groupby": ["i"]}], color=theme.grid, strokeWidth=3),
        marks("point", mark, "", spelled, filled=True, size=80, opacity=0.9),
    ]
    height = min(24, 900 / max(n, 1)) * max(n, 2)
    return layered(layers, {"ranks": pd.concat(parts)}, theme, 330, height, data={"name": "ranks"})


def words_chart(frame: pd.DataFrame, theme: Theme) -> Spec:
    """One line a word, from its accuracy after layer 0 to that after the last.

    tidy_tables.words_frame: word, accuracy, first, sentences, in the order drawn.
    """
    n = len(frame)
    low = min(0.3, float(frame[["first", "accuracy"]].min().min())) - 0.03
    across = {"scale": {"domain": [low, 1.03], "nice": False}}
    title = "accuracy after layer 0 (ring) and after the last (dot)"
    axis = label_axis(frame["word"].astype(str).tolist(), labelLimit=120)
    base = {
        "y": field("place", "ordinal", axis=axis),
        "tooltip": [
            nominal("word"),
            field("first", format=WEIGHT, title="after layer 0"),
            field("accuracy", format=WEIGHT, title="after the last layer"),
            field("sentences"),
        ],
    }
    last = {**base, "x": field("accuracy", title=title, axis={"grid": True, "tickCount": 5}, **across)}
    first = {**base, "x": field("first", **across)}
    layers = [
        marks("rule", {**last, "x2": {"field": "first"}}, strokeWidth=1.5, color=theme.grid),
        marks("point", first, size=45, color=theme.muted),
        marks("point", last, filled=True, size=70, opacity=1, color=theme.signed[-1]),
    ]
    words = frame.assign(place=range(n))
    return layered(layers, {"words": words}, theme, 430, max(60, 17 * n), data={"name": "words"})
