"""What a page has shown in this run: its figures with their words and numbers, and what they were computed from.

The frame begins it, the page's parts note what they draw, and at the end "Take away" offers it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:  # the frame imports this module before it shows itself, and these take seconds
    import pandas as pd

    from selfattn.encoders.capture import Head
    from selfattn.encoders.encoder import Encoder
    from selfattn.encoders.encoding import Encoding
    from selfattn.export.files import View

NAME_LENGTH = 60


@dataclass(frozen=True)
class Figure:
    """One picture on the page."""

    spec: dict[str, Any]  # Vega-Lite
    reading: str
    table: Callable[[], pd.DataFrame]


@dataclass
class Shown:
    """One run of one page."""

    title: str = ""
    place: Any = None  # where the page's heading keeps room for "Take away"
    encoder: Encoder | None = None
    head: Head | None = None
    texts: dict[str, tuple[Encoder, Encoding]] = field(default_factory=dict)
    figures: dict[str, Figure] = field(default_factory=dict)
    view: View | None = None  # what the page itself offers beside its figures


def begin() -> None:
    """Forget the run before: the frame calls it before it runs a page."""
    st.session_state.shown = Shown()
    st.session_state.began = time.monotonic()  # from which its turns count (dashboard/limits.py)


def end() -> Shown:
    """What the page has shown; nothing is kept of it after this."""
    return st.session_state.pop("shown", None) or Shown()


def shown() -> Shown:
    """What this run has shown so far; of no account where a page runs without the frame."""
    return st.session_state.get("shown") or Shown()


def heading(title: str) -> Any:
    """The page's title; returns the container at its right, for links to other views."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(title, anchor=False, width="stretch")
        links = st.container(horizontal=True, width="content", vertical_alignment="center")
        noted = shown()
        noted.title, noted.place = title, st.container(width="content")
    return links


def note_figure(spec: dict[str, Any], reading: str, name: str, table: Callable[[], pd.DataFrame] | None) -> None:
    """A picture that was sent to the page. name: "" where its title or reading will do. table: None where the spec has it."""
    from selfattn.charts.drawn import drawn_frame, drawn_title

    figures = shown().figures
    text = name or drawn_title(spec) or reading
    short = text if len(text) <= NAME_LENGTH else text[:NAME_LENGTH].rsplit(" ", 1)[0] + " ..."
    figures[f"{len(figures) + 1}. {short}"] = Figure(spec, reading, table or (lambda: drawn_frame(spec)))


def note_text(encoder: Encoder, label: str, encoding: Encoding) -> None:
    """A sentence that the page has run, under the name that the page gives it ("Sentence A")."""
    shown().texts[label.removeprefix("The ").removeprefix("Sentence ")] = (encoder, encoding)


def offer(view: View) -> None:
    """The page's own whole figure, tables and arrays, which stand before what is noted of its parts."""
    shown().view = view
