"""Make panels with a dot chart, and panels with a map of all heads."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from selfattn import numbers
from selfattn.charts.dots import dots
from selfattn.charts.head_map import head_map
from selfattn.encoders.capture import Head
from selfattn.panel import Live, Panel, Tables
from selfattn.views.heads_data import heads_data


def dots_panel(
    name: str,
    finding: str,
    drawn: pd.DataFrame,
    *,
    guess: tuple[str, float] | None = None,
    domain: tuple[float, float] = (0.0, 1.0),
    marked: Sequence[str] | None = None,
    tables: Mapping[str, pd.DataFrame] | None = None,
    **parts: Any,
) -> Panel:
    """Make a panel with a chart of dots, one for each row of the table `drawn`.

    marked: labels of the dots to draw in teal (None: the first).
    """
    colored = drawn["label"].tolist()[:1] if marked is None else marked
    rows = (" ".join(filter(None, (row.series, row.group, row.label))) for row in drawn.itertuples())
    return Panel(
        name=name,
        finding=finding,
        picture=lambda look: dots(drawn, look.theme, guess, domain=domain, marked=colored, width=look.width),
        alt=f"{finding} {'; '.join(map(' '.join, zip(rows, map(share, drawn['value']))))}.",
        tables={name: drawn, **(tables or {})},
        **parts,
    )


def heads_panel(
    name: str,
    finding: str,
    frame: pd.DataFrame,
    measure: str,
    head: Head | str,
    *,
    look_of: Mapping[str, Any],
    **parts: Any,
) -> Panel:
    """Make a panel with a map of all heads. look_of: options of `head_map`."""
    return Panel(
        name=name,
        finding=finding,
        picture=lambda look: head_map(frame, measure, look.theme, str(head), **look_of),
        alt=f"A map of layers by heads. {finding}",
        live=Live("heads", heads_data(frame, measure, head, **look_of)),
        **{"tables": Tables({name: lambda: frame}), **parts},
    )


def named(row: pd.Series) -> str:
    """Return a head's name: "Head 10 of layer 0"."""
    return f"Head {row['head']} of layer {row['layer']}"


def share(value: float, places: int = 0) -> str:
    """Format a number from 0 to 1 as a percentage, with a no-break space."""
    return numbers.share(value, places).replace(" ", "\u00a0")
