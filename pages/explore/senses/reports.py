"""Draw the reports, tables and word picker of the page Senses."""

import hashlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pandas as pd
import streamlit as st

from selfattn.dashboard import session
from selfattn.dashboard.figures import say, show_error
from selfattn.dashboard.navigation import ENTRIES
from selfattn.dashboard.pickers import open_sentences
from selfattn.dashboard.reports import labelled, stoppable, stored_report
from selfattn.dashboard.typed_text import show_rejected
from selfattn.encoders.encoder import Encoder, Progress
from selfattn.encoders.errors import TextError
from selfattn.scan.tables import InputError
from selfattn.scan.uploads import TAKEN, read_table
from selfattn.stored_reports import Stored
from selfattn.tidy_tables import csv_text

T = TypeVar("T")
BUILT_IN = "labelled"  # the key of the built-in sentences


@dataclass(frozen=True, eq=False)
class Labelled:
    encoder: Encoder
    frame: pd.DataFrame  # columns: sentence, word, sense
    key: Hashable  # BUILT_IN, or the digest of the visitor's table

    def stored(self, kind: type[T]) -> Stored[T] | None:
        return stored_report(kind, self.encoder) if self.key == BUILT_IN else None

    def report(self, kind: type[T], what: str, title: str, make: Callable[..., T]) -> T:
        """Return the stored report, or make one and show the progress."""
        if kept := self.stored(kind):
            return kept.report

        def made(progress: Progress) -> T | ValueError:
            try:
                return make(self.encoder, self.frame, progress=progress)
            except ValueError as error:
                return ValueError(str(error))  # cached, so that a bad table is read only once

        report = stoppable(self.encoder, (what, self.key), title, made)
        if isinstance(report, ValueError):
            raise ValueError(str(report))
        return report


def pick_word(frame: pd.DataFrame) -> str:
    words = sorted(frame["word"].dropna().astype(str).str.casefold().unique())
    return st.selectbox("Word", words, key="sense_word", bind="query-params", width=150)


def pick_table() -> tuple[pd.DataFrame, str] | None:
    """Return the visitor's table and its digest, or None."""
    with st.expander("Which tables you can upload", expanded=False):
        say(
            "Upload a CSV file (UTF-8, with a header line) or a JSON Lines file with the columns sentence, word and sense. A "
            "sentence must contain the word exactly once. A word needs at least two senses, with two sentences per sense. For a "
            "table without senses, run selfattn scan TABLE --output DIR --sources, and open DIR here as a finished scan."
        )
        sample = labelled().groupby(["word", "sense"]).head(2).head(16)
        st.download_button("Download a sample", csv_text(sample), "sample.csv", "text/csv", on_click="ignore")
    # The uploader accepts every type, because read_table's error names the types that can be read.
    upload = st.file_uploader(f"Table: {', '.join(TAKEN)}", key="table")
    if upload is None:
        return None
    read = session.TABLE_READ.get()
    if read[0] != upload.file_id:  # read the file only once
        read = upload.file_id, *_read_once(upload)
        session.TABLE_READ.set(read)
    _, frame, broken, digest = read
    if frame is None:
        show_error(broken)
        return None
    show_rejected(broken)
    return frame, digest


def _read_once(upload) -> tuple[pd.DataFrame | None, pd.DataFrame | str, str]:
    data, kind = upload.getvalue(), Path(upload.name).suffix.lower()
    try:
        frame, broken = read_table(data, kind)
    except (InputError, TextError) as error:
        return None, str(error), ""
    if frame.empty:
        first = "".join(broken["reason"][:1])
        none = f"None of the {len(broken)} rows can be used. First reason: {first}"
        return None, none if first else "The table has no rows. Add rows.", ""
    return frame, broken, hashlib.sha256(kind.encode() + data).hexdigest()


def open_pair(a: str, b: str, control: str, word: str) -> None:
    """Store the sentences that `show_opened` will open. Call `open_pair` in a callback."""
    open_sentences(None, a, b, control, word, chosen=True)
    session.OPENED.set({session.A: a, session.B: b, session.C: control, session.WORD: word})


def show_opened() -> None:
    """Open the main view with the sentences that `open_pair` stored. Call `show_opened` before anything is drawn."""
    if opened := session.OPENED.get():
        session.OPENED.set(None)
        st.switch_page(ENTRIES[""].path, query_params=opened)
