"""Make a lesson's panel of several charts."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec, drawn_frame, in_rows
from selfattn.panel import Look, Panel, Tables

Drawing = Callable[[Theme], Spec]  # draws a chart in the colours of a theme


def drawing(chart: Callable[..., Spec], *arguments: Any, **looks: Any) -> Drawing:
    """Return the chart function with all arguments bound except the theme."""
    return partial(chart, *arguments, **looks)


def lesson_panel(name: str, finding: str, charts: Mapping[str, Drawing], columns: int = 0, **said: str) -> Panel:
    """Make a panel of several charts. columns: charts per row (0: all)."""

    def picture(look: Look) -> Spec:
        return in_rows({title: draw(look.theme) for title, draw in charts.items()}, columns)

    return Panel(
        name=name,
        finding=finding,
        picture=picture,
        alt=f"{finding} Charts: {'; '.join(charts)}.",
        tables=Tables({name: lambda: drawn_frame(picture(Look()))}),
        **said,
    )
