"""Words in the order of how well their senses are separated."""

import pandas as pd

from selfattn.charts.labels import label_axis
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, field, layered, marks, nominal
from selfattn.numbers import WEIGHT


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
