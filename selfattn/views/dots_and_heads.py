"""Panels of two kinds that several views have: dots with their intervals, and a map of all heads."""

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
    format: str = ".0%",
    tables: Mapping[str, pd.DataFrame] | None = None,
    **parts: Any,
) -> Panel:
    """A panel of `charts.dots.dots`. marked: None, the first label.

    tables: beside the drawn one. parts: of the panel.
    """
    colored = drawn["label"].tolist()[:1] if marked is None else marked
    rows = (" ".join(filter(None, (row.series, row.group, row.label))) for row in drawn.itertuples())
    values = (
        share(value, int(format[-2])) if format.endswith("%") else numbers.decimal(value) for value in drawn["value"]
    )
    return Panel(
        name=name,
        finding=finding,
        picture=lambda look: dots(
            drawn, look.theme, guess, domain=domain, marked=colored, format=format, width=look.width
        ),
        alt=f"{finding} {'; '.join(map(' '.join, zip(rows, values)))}.",
        tables={name: drawn, **(tables or {})},
        **parts,
    )  # fmt: skip


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
    """A panel of `head_map`: all heads by a measure, `head` outlined. look_of: kind and title. parts: of the panel."""
    return Panel(
        name=name,
        finding=finding,
        picture=lambda look: head_map(frame, measure, look.theme, str(head), **look_of),
        alt=f"A map of layers by heads. {finding}",
        live=Live("heads", heads_data(frame, measure, head, **look_of)),
        **{"tables": Tables({name: lambda: frame}), **parts},
    )


def named(row: pd.Series) -> str:
    """A head in a sentence."""
    return f"Head {row['head']} of layer {row['layer']}"


def share(value: float, places: int = 0) -> str:
    """A part of a whole that no line break parts."""
    return numbers.share(value, places).replace(" ", "\u00a0")
