"""How a chart reaches the page: as a plain Vega-Lite dict, in the visitor's theme, with its reading beneath it."""

import string
from collections.abc import Callable, Sequence
from typing import Any

import altair as alt
import pandas as pd
import pyarrow as pa
import streamlit as st

from selfattn.charts.theme import DARK, LIGHT, Theme
from selfattn.dashboard.shown import note_figure


def current_theme() -> Theme:
    """The look the visitor's browser is in right now."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def show_chart(
    chart: alt.TopLevelMixin | dict[str, Any],
    reading: str,
    *,
    key: str | None = None,
    on_select: str | Callable[[], None] = "ignore",
    width: str | int = "stretch",
    caption: bool = True,
    name: str = "",
    table: Callable[[], pd.DataFrame] | None = None,
) -> Any:
    """Send a chart to the page; `reading` says in words, computed from the data, what is to be seen.

    The reading is the picture's text alternative and stands beneath it unless caption is False. name and table are
    for "Take away": what the picture is called where it has no title, and its numbers where the spec doesn't hold them as
    records. Altair's schema validation runs under a process-wide lock, so charts go out as unvalidated dicts.
    """
    spec = chart if isinstance(chart, dict) else chart.to_dict(validate=False)
    note_figure(spec, reading, name, table)
    event = st.vega_lite_chart(_with_tables(spec), theme=None, key=key, on_select=on_select, width=width, alt=reading)
    if caption:
        # A reading may hold words from the visitor's text, so it is never interpreted as Markdown.
        st.text(reading, width="stretch")
    return event


def _with_tables(spec: dict[str, Any]) -> dict[str, Any]:
    """The spec with its records as Arrow tables: Streamlit would make them by way of pandas, in ten times the time."""
    if "datasets" not in spec:
        return spec
    return {**spec, "datasets": {name: _table(rows) for name, rows in spec["datasets"].items()}}


def _table(rows: Any) -> Any:
    try:
        names = dict.fromkeys(name for row in rows for name in row)
        return pa.table({name: [row.get(name) for row in rows] for name in names})
    except (pa.ArrowException, AttributeError, TypeError, OverflowError):  # not records, or of mixed types
        return rows


def segmented(label: str, options: Sequence[Any], *, default: Any, **more: Any) -> Any:
    """st.segmented_control where a link with nothing after its key ("sentence=") means the default, not None."""
    chosen = st.segmented_control(label, options, default=default, **more)
    return default if chosen is None else chosen


def show_error(message: object) -> None:
    """A message in the page's error box. It may hold what a visitor typed, so no character of it is Markdown."""
    st.error(literal(str(message)), icon=":material/error:")


def literal(text: str) -> str:
    """The text so that Markdown shows each of its characters: every ASCII punctuation mark is escaped."""
    return "".join(f"\\{character}" if character in string.punctuation else character for character in text)
