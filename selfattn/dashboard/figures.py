"""Show a figure on the page: a plain Vega-Lite dict in the visitor's theme, its caption beneath it.

A run of a page keeps a record of what it shows, from which "Download" is made at the end.
"""

import string
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from selfattn.charts.theme import DARK, LIGHT, Theme
from selfattn.charts.vega import Spec, drawn_frame, updatable
from selfattn.dashboard import session
from selfattn.dashboard.choice import Pair
from selfattn.dashboard.permissions import for_visitors
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding

NAME_LENGTH = 60
COLUMN = 552  # pixels: two side by side at 1440


@dataclass(frozen=True)
class Figure:
    """One picture of the page."""

    draw: Callable[[], Spec]
    caption: str
    table: Callable[[], pd.DataFrame]
    one_head: bool = True  # it shows the page's chosen head
    sentence: str = ""  # the one sentence that it shows, "A" ...; "" for all
    live: bool = False  # it answers to hover and click, in an HTML file too


class PageEnds(Exception):
    """Ends a page that is complete. After st.stop() the frame couldn't offer "Download"."""


@dataclass(repr=False)
class Page:
    """One run of one page: its figures and what they show. `encoder`, `pair`, `sentence` and `head` are set once picked."""

    title: str = ""
    news: Any = st  # above the title: a container for what comes and goes; without the frame, where one stands
    headline: Any = None  # where the page's title stands
    links: Any = None  # at its right: links to other views, then "Download"
    beside: Any = None  # the frame's row of pickers: room for one of the page's own
    asked: tuple[str, str, str, str] | None = None  # the sidebar's pickers: the encoder's name, revision, device, dtype
    encoder: Encoder = field(init=False)
    pair: Pair = field(init=False)
    sentence: str = field(init=False)
    head: Head = field(init=False)
    python: str = ""  # lines of Python that draw its figure in a notebook (dashboard/copy_as_python.py)
    lines: tuple[str, ...] = ()  # its answer and what that doesn't say, for its report
    texts: dict[str, tuple[Encoder, Encoding]] = field(default_factory=dict)
    noted: list[tuple[str, Figure]] = field(default_factory=list)
    tables: dict[str, Callable[[], pd.DataFrame]] = field(default_factory=dict)  # what it offers beside its figures
    address: dict[str, str | None] = field(default_factory=dict)  # what its address holds beside its widgets' values

    @property
    def figures(self) -> dict[str, Figure]:
        """The page's figures by numbered names."""
        return {f"{number}. {name}": figure for number, (name, figure) in enumerate(self.noted, start=1)}


def end_page() -> Page:
    """Take the record of this run out of the session."""
    return st.session_state.pop(session.RECORD, None) or Page()


def this_page() -> Page:
    """The record of this run so far; an empty one where a page runs without the frame."""
    return session.RECORD.get() or Page()


def heading(title: str, question: bool = False) -> None:
    """The page's title, with room at its right for links to other views and for "Download".

    question: the page puts a question of its own in the title's place.
    """
    page = this_page()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        page.headline = st.container(width="stretch", gap=None)
        page.title, page.links = title, st.container(horizontal=True, width="content", vertical_alignment="center")
    if not question:
        page.headline.subheader(title, anchor=False)


VIEWS = {
    "main": ("pages/explore/two_sentences/page.py", "The word in two sentences", ":material/compare_arrows:"),
    "head": ("pages/explore/inside_a_head/page.py", "Inside a head", ":material/search:"),
    "heads": ("pages/explore/all_heads.py", "All heads", ":material/grid_view:"),
    "lessons": ("pages/learn/from_scratch/page.py", "New to attention? Start here", ":material/school:"),
}


def show_links(*views: str) -> None:
    """Links to other views, by their names in VIEWS."""
    for view in views:
        path, label, icon = VIEWS[view]
        st.page_link(path, label=label, icon=icon)


def say(text: str) -> None:
    """A sentence or more over the whole width. It may hold words from the visitor's text, so it is never Markdown."""
    st.text(text, width="stretch")


def side_by_side(n: int = 2, width: int = COLUMN, key: str | None = None) -> list[st.delta_generator.DeltaGenerator]:
    """Places beside one another at 1440, one below the other in a narrow window. key: app.py has a style of that name."""
    row = st.container(horizontal=True, gap="medium", key=key)
    return [row.container(width=width, gap="small") for _ in range(n)]


def current_theme() -> Theme:
    """The look the visitor's browser is in right now."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def show_chart(
    spec: Spec,
    caption: str,
    *,
    name: str,
    key: str | None = None,
    heads: bool = False,
    one_head: bool = True,
    in_place: bool = False,
    visible: bool = True,
    sentence: str = "",
    table: Callable[[], pd.DataFrame] | None = None,
    live: bool = False,
) -> None:
    """Send a chart to the page; `caption` says in words, computed from the data, what it shows.

    The caption is the picture's text alternative; with `visible` it is printed beneath. heads: a click on a head chooses it;
    its chart needs a key. one_head=False: the figure doesn't show the chosen head, so its files name none (nor do those of a
    chart of all heads). name, table: for "Download", the figure's name, and its numbers where the spec doesn't hold them as
    records. sentence, live: as in `Figure`. in_place: choosing another head updates the marks instead of redrawing them; the
    text alternative is then the name, and a screen reader reads the caption at the first mark.
    """
    short = name if len(name) <= NAME_LENGTH else name[:NAME_LENGTH].rsplit(" ", 1)[0] + " ..."
    note_figure(
        short,
        Figure(lambda: spec, caption, table or (lambda: drawn_frame(spec)), one_head and not heads, sentence, live),
    )
    on_select: Any = "ignore"
    if heads:
        key = _clickable(key)
        on_select = partial(_choose_clicked, key)
    sent = with_tables(updatable(spec, caption) if in_place else spec)
    alt = short if in_place else caption
    st.vega_lite_chart(sent, theme=None, key=key, on_select=on_select, width="content", alt=alt)
    if visible:
        say(caption)


def _clickable(key: str | None) -> str:
    """The chart's key; a new one while it holds a click on another head, as it would ignore the next click on that one."""
    held = st.session_state.get(f"{key}-{session.CLICKS.get()}", {}).get("selection", {}).get("pick")
    if held and _picked_head(held) != this_page().head:
        session.CLICKS.set(session.CLICKS.get() + 1)
    return f"{key}-{session.CLICKS.get()}"


def _picked_head(picked: list[dict[str, Any]]) -> Head:
    return Head(int(picked[0]["layer"]), int(picked[0]["head"]))


def _choose_clicked(key: str) -> None:
    if picked := st.session_state[key].selection.get("pick"):  # empty after a click beside the heads
        session.HEAD.set(str(_picked_head(picked)))


def note_figure(name: str, figure: Figure, first: bool = False) -> None:
    """Offer a figure in "Download", on the page or not. first: before all others."""
    noted = this_page().noted
    noted.insert(0 if first else len(noted), (name, figure))


def with_tables(spec: Spec) -> Spec:
    """The spec with its records as Arrow tables: Streamlit takes ten times as long to make them, by way of pandas."""
    if "datasets" not in spec:
        return spec
    return {**spec, "datasets": {name: _table(rows) for name, rows in spec["datasets"].items()}}


def _table(rows: Any) -> Any:
    try:
        names = dict.fromkeys(name for row in rows for name in row)
        return pa.table({name: [row.get(name) for row in rows] for name in names})
    except (pa.ArrowException, AttributeError, TypeError, OverflowError):  # not records, or of mixed types
        return rows


def show_error(message: object) -> None:
    """Show a message in the page's error box, its Markdown escaped: it may quote what a visitor typed, or hold a path."""
    st.error(literal(for_visitors(str(message))), icon=":material/error:")


def literal(text: str) -> str:
    """Escape a text for Markdown: every ASCII punctuation mark."""
    return "".join(f"\\{character}" if character in string.punctuation else character for character in text)
