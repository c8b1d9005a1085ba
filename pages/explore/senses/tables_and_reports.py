"""Parts of the Senses page: reports with progress and stop, the visitor's table, the word picker, the head map, downloads."""

import hashlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import streamlit as st

from selfattn.captions import senses as captions
from selfattn.charts.head_map import head_map
from selfattn.dashboard import session
from selfattn.dashboard.cache import cached, encoder_key, is_cached
from selfattn.dashboard.compute_again import labelled, stored_report
from selfattn.dashboard.figures import current_theme, say, show_chart, show_error, this_page
from selfattn.dashboard.navigation import show_link
from selfattn.dashboard.pickers import open_sentences
from selfattn.dashboard.typed_text import show_rejected
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder, Progress
from selfattn.encoders.errors import TextError
from selfattn.examples import other_sentences
from selfattn.scan.tables import InputError
from selfattn.scan.uploads import TAKEN, read_table
from selfattn.senses import SeparationReport, separation
from selfattn.stored_reports import Stored
from selfattn.tidy_tables import csv_text, named_heads
from selfattn.words import fold

T = TypeVar("T")
BUILT_IN = "labelled"  # the key of the built-in sentences


@dataclass(frozen=True, eq=False)
class Labelled:
    """Labelled sentences and the encoder that reads them."""

    encoder: Encoder
    frame: pd.DataFrame  # columns sentence, word, sense
    key: Hashable  # BUILT_IN, or the digest of the visitor's table

    def of(self, word: str) -> "Labelled":
        """The sentences of one word."""
        rows = self.frame[self.frame["word"].astype(str).str.strip().map(fold) == word]
        return replace(self, frame=rows, key=(self.key, word))

    def stored(self, kind: type[T]) -> Stored[T] | None:
        """The stored report about these sentences, or None."""
        return stored_report(kind, self.encoder) if self.key == BUILT_IN else None

    def comes_late(self, kind: type, what: str) -> bool:
        """True if the report isn't ready and covers several words, so that one word's report is ready sooner."""
        known = self.stored(kind) or is_cached(self.encoder, (what, self.key))
        return not known and self.frame["word"].nunique() > 1

    def report(self, kind: type[T], what: str, title: str, make: Callable[..., T]) -> T:
        """Return the stored report of this kind, or a cached make(encoder, frame, progress=...).

        A report that is made now shows a progress bar and a Stop button.
        """
        if kept := self.stored(kind):
            return kept.report
        asked = (encoder_key(self.encoder), (what, self.key))
        if session.STOPPED.get() == asked:
            st.text("Stopped.")
            st.button("Run it again", key="run again", on_click=session.STOPPED.set, args=(None,))
            st.stop()
        place = bar = st.empty()
        if not is_cached(self.encoder, asked[1]):
            with place.container(horizontal=True, vertical_alignment="center"):
                bar = st.progress(0.0, title)
                # A click reruns the script; the old run ends at its next progress call.
                st.button("Stop", key=f"stop {asked[1]}", on_click=session.STOPPED.set, args=(asked,))

        def made(progress: Progress) -> T | ValueError:
            def show(done: int, total: int) -> None:
                progress(done, total)
                bar.progress(done / total, f"{title} {done} of {total}")

            try:
                return make(self.encoder, self.frame, progress=show)
            except ValueError as error:
                return ValueError(
                    str(error)
                )  # cached like a report, so that a bad table isn't read again at each click

        report = cached(self.encoder, asked[1], made, costly=True)
        place.empty()
        if isinstance(report, ValueError):
            raise ValueError(str(report))
        return report


def separated(asked: Labelled, floor: bool = True) -> SeparationReport:
    """The separation of the senses in these sentences."""
    return asked.report(SeparationReport, "senses", "Senses, word", partial(separation, floor=floor))


def show_one_word(asked: Labelled, word: str) -> None:
    """Show the chosen word's result, ready in seconds, while the report over all words is computed."""
    if not asked.comes_late(SeparationReport, "senses"):
        return
    try:
        say(captions.layers(separated(asked.of(word), floor=False)))
    except ValueError:
        return  # too few sentences of this word


def pick_word(frame: pd.DataFrame) -> str:
    """Let the visitor choose one of the table's words."""
    words = sorted(frame["word"].dropna().astype(str).str.casefold().unique())
    return st.selectbox("Word", words, key="sense_word", bind="query-params", width=150)


def pick_table() -> tuple[pd.DataFrame, str] | None:
    """Return the visitor's table and its digest, or None without a readable one. Show errors on the page."""
    with st.expander("What the table looks like", expanded=False):
        say(
            "A CSV (UTF-8, a header line) or JSON Lines file with the columns sentence, word and sense. The word stands once in "
            "its sentence, as one word, and every word needs two senses with two sentences each. Sentences without senses can "
            "be scanned, selfattn scan TABLE --output DIR --sources, and opened here as a finished scan."
        )
        sample = labelled().groupby(["word", "sense"]).head(2).head(16)
        st.download_button("Download a sample", csv_text(sample), "sample.csv", "text/csv", on_click="ignore")
    # The uploader takes any type: read_table names the remedy for a wrong one.
    upload = st.file_uploader(f"Table: {', '.join(TAKEN)}", key="table")
    if upload is None:
        return None
    read = session.TABLE_READ.get()
    if read[0] != upload.file_id:  # read it once, not at each click
        read = upload.file_id, *_read_once(upload)
        session.TABLE_READ.set(read)
    _, frame, broken, digest = read
    if frame is None:
        show_error(broken)
        return None
    show_rejected(broken)
    return frame, digest


def _read_once(upload) -> tuple[pd.DataFrame | None, pd.DataFrame | str, str]:
    """Return the usable rows, the broken rows, and a digest of the file and its kind.

    An unreadable file gives None, the reason and "".
    """
    data, kind = upload.getvalue(), Path(upload.name).suffix.lower()
    try:
        return *read_table(data, kind), hashlib.sha256(kind.encode() + data).hexdigest()
    except (InputError, TextError) as error:
        return None, str(error), ""


def show_map(frame: pd.DataFrame, column: str, kind: str, head: Head, reading: str, title: str) -> None:
    """Draw a map of layers x heads; a click chooses the head for every view."""
    chart = head_map(frame, column, current_theme(), str(head), kind=kind, title=title)
    show_chart(chart, reading, key=f"senses-{title}", heads=True, name=title)


def pick_row(table: pd.DataFrame, key: str, **looks: Any) -> Hashable | None:
    """Show a table in which one row can be selected; return its index label, or None."""
    event = st.dataframe(
        table, hide_index=True, height=240, on_select="rerun", selection_mode="single-row", key=key, **looks
    )
    return next((table.index[at] for at in event.selection.rows), None)


def open_row(found: pd.DataFrame, index: Hashable) -> None:
    """Open a row as A, with B of another sense and a control of the same sense, and link to the views."""
    row = found.loc[index]
    open_pair(row["sentence"], *other_sentences(found, index), row["word"])


def open_pair(a: str, b: str, control: str, word: str) -> None:
    """Set the sentences and the word of the other views, and link to them."""
    open_sentences(None, a, b, control, word, chosen=True)
    say(f"A: {a}\nB: {b}")
    with st.container(horizontal=True):
        show_link("")
        show_link("inside-a-head")


def offer_tables(report: SeparationReport, head: Head) -> None:
    """Add the page's tables to Download."""
    tables = this_page().tables
    tables["layers"] = lambda: report.layers.astype({"layer": str})
    tables["words"] = lambda: report.words.astype({"layer": str})
    tables["sentences"] = lambda: report.sentences(*head)
    if not report.heads.empty:
        tables["heads, separation"] = lambda: named_heads(report.heads)
