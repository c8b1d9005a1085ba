"""Draw line charts of one column against another."""

import math

import pandas as pd

from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, field, hues, layered, marks, nominal

CURVES = {"name": "curves"}  # the dataset of layers that don't name one


def lines(
    frame: pd.DataFrame,
    x: str,
    y: str,
    theme: Theme,
    series: str | None = None,
    log: str = "",
    titles: tuple[str, str] | None = None,
    domain: tuple[float, float] | None = None,
    size: tuple[int, int] = (320, 220),
) -> Spec:
    """Draw a line for each series. log: which axes are logarithmic ("x", "y", "xy" or "")."""
    titles = titles or (x, y)
    across = {"type": "log", "base": 2} if "x" in log else {"nice": False, "zero": False}
    whole = {"tickMinStep": 1} if frame[x].dtype.kind == "i" else {}
    up = {**({"type": "log"} if "y" in log else {"zero": True}), **({"domain": list(domain)} if domain else {})}
    encoding = {
        "x": field(x, title=titles[0], scale=across, axis={"tickCount": 6, **whole}),
        "y": field(y, title=titles[1], scale=up, axis=_ticks(frame[y], "y" in log)),
        "tooltip": [*([nominal(series)] if series else []), field(x), field(y, format=".4g")],
    }
    if series:
        names = list(dict.fromkeys(frame[series]))
        legend = {"title": None, "orient": "top", "symbolType": "stroke"}
        colors = dict(zip(names, (theme.weights[4], theme.muted, theme.ink, theme.weights[2])))
        dashes = dict(zip(names, ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2])))
        encoding["color"] = nominal(series, scale=hues(colors), legend=legend)
        encoding["strokeDash"] = nominal(series, scale=hues(dashes), legend=legend)
    look = {} if series else {"color": theme.weights[4]}
    line = marks("line", encoding, point={"size": 36, "filled": True}, **look)
    return layered([line], {"curves": frame}, theme, *size, data=CURVES)


def _ticks(values: pd.Series, log: bool) -> Spec:
    """Return about five ticks, or on a logarithmic axis the powers of ten."""
    if not log:
        return {"tickCount": 5}
    low, high = (math.log10(bound) for bound in (values.min(), values.max()))
    powers = [10.0**power for power in range(math.floor(low), math.ceil(high) + 1)]
    return {"values": powers, "format": "~s" if values.max() >= 1e4 else "~g"}
