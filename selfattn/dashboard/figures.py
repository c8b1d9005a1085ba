"""Show panels on a page, and record what the page shows."""

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from selfattn.charts.labels import isolated_words
from selfattn.charts.vega import Spec
from selfattn.dashboard import session
from selfattn.dashboard.choice import Pair
from selfattn.dashboard.live import show_live
from selfattn.dashboard.permissions import for_visitors
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.panel import Live, Look, Panel

COLUMN = 552  # pixels: two columns fit in a window of 1440


class PageEnds(Exception):
    """Ends a page early. st.stop() would also end app.py."""


@dataclass(repr=False)
class Page:
    """The containers, choices and results of one run of a page's script."""

    name: str = ""  # in the names of the page's files
    title: str = ""
    news: Any = st  # above the title, for messages; `st` without app.py
    headline: Any = None
    links: Any = None  # right of the title: links and "Download"
    beside: Any = None  # row of pickers
    own: Any = None  # popover with the visitor's own sentences
    details: Any = st.sidebar  # popover under the encoder's picker
    asked: tuple[str, str, str, str] | None = None  # name, revision, device, dtype
    encoder: Encoder = field(init=False)
    pair: Pair = field(init=False)
    sentence: str = field(init=False)
    head: Head = field(init=False)
    leading: Head = field(init=False)  # the main view's default head
    python: str = ""  # code of the page's figure
    texts: dict[str, tuple[Encoder, Encoding]] = field(default_factory=dict)
    panels: list[Panel] = field(default_factory=list)
    tables: dict[str, Callable[[], pd.DataFrame]] = field(default_factory=dict)  # tables that no panel draws
    address: dict[str, str | None] = field(default_factory=dict)  # URL parameters without a widget
    later: list[Callable[[], None]] = field(default_factory=list)  # called after the pictures are drawn


def end_page() -> Page:
    """Remove the `Page` of this run from the session, and return it."""
    return st.session_state.pop(session.RECORD, None) or Page()


def this_page() -> Page:
    """Return the `Page` of this run of the page's script, or an empty `Page` if app.py isn't running."""
    return session.RECORD.get() or Page()


def heading(title: str, question: bool = False) -> None:
    """Show the page's title. question: True if the page shows a question instead of the title."""
    page = this_page()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        page.headline = st.container(width="stretch", gap=None, key="headline")
        page.title, page.links = title, st.container(horizontal=True, width="content", vertical_alignment="center")
    if not question:
        page.headline.subheader(title, anchor=False)


def say(text: str) -> None:
    """Show plain text, never Markdown, over the whole width."""
    st.text(isolated_words(text), width="stretch")


def side_by_side(n: int = 2, width: int = COLUMN, key: str | None = None) -> list[st.delta_generator.DeltaGenerator]:
    """Return n columns of `width` pixels. key: a name for the CSS in app.py."""
    row = st.container(horizontal=True, gap="medium", key=key)
    return [row.container(width=width, gap="small") for _ in range(n)]


def current_look() -> Look:
    """Return the colour scheme of the visitor's browser."""
    return Look(dark=st.context.theme.type == "dark")


def show_panel(
    panel: Panel,
    *,
    key: str | None = None,
    choose: Callable[[str, Any], None] | None = None,
    states: Sequence[str] = (),
    first: bool = False,
    method: bool = True,
) -> None:
    """Show a panel, and offer it in "Download".

    key: the element's key. Without a key, an old figure stays visible while a changed one loads.
    choose, states: see `show_live`.
    first: True to list the panel first in "Download".
    method: True to show "How this was measured".
    """
    if panel.finding and not (panel.live and {"finding", "findings"} & panel.live.data.keys()):
        st.markdown(f"**{literal(panel.finding)}**")
    if panel.live and panel.live.component == "heads":
        show_heads(panel.name, panel.live, session.HEAD)
    elif panel.live:
        show_live(panel.live, key or f"{panel.name} {panel.live.data['key']}", choose or (lambda *_: None), *states)
    else:
        spec = panel.picture(current_look())
        width: Any = "stretch" if spec.get("width") == "container" else "content"
        st.vega_lite_chart(with_tables(spec), theme=None, key=key, width=width, alt=panel.alt)
    note_panel(panel, first)
    if panel.note:
        say(panel.note)
    if panel.method and method:
        show_method(panel.method)


def show_method(method: str) -> None:
    with st.expander("How this was measured"):
        say(method)


def show_heads(name: str, live: Live, key: session.Key) -> None:
    """Show a map of all heads. A click on a head stores the head under `key`."""

    def choose(_: str, value: Any) -> None:
        # A browser can send any value.
        if type(value) is int and 0 <= value < live.data["layers"] * live.data["heads"]:
            key.set(str(Head(*divmod(value, live.data["heads"]))))

    show_live(live, f"{name} {live.data['key']}", choose, "head")


def note_panel(panel: Panel, first: bool = False) -> None:
    """Add a panel to the list in "Download": at the start if `first`, else at the end."""
    panels = this_page().panels
    panels.insert(0 if first else len(panels), panel)


def with_tables(spec: Spec) -> Spec:
    """Convert the spec's datasets to Arrow tables, ten times as fast as Streamlit does."""
    if "datasets" not in spec:
        return spec
    return {**spec, "datasets": {name: _table(rows) for name, rows in spec["datasets"].items()}}


def _table(rows: Any) -> Any:
    try:
        names = dict.fromkeys(name for row in rows for name in row)
        return pa.table({name: [row.get(name) for row in rows] for name in names})
    except (pa.ArrowException, AttributeError, TypeError, OverflowError):  # no records, or a column with mixed types
        return rows


def show_error(message: object) -> None:
    """Show an error message without the server's paths."""
    st.error(literal(for_visitors(str(message))), icon=":material/error:")


def literal(text: str) -> str:
    """Escape all ASCII punctuation for Markdown."""
    return "".join(
        f"\\{character}" if character in string.punctuation else character for character in isolated_words(text)
    )
