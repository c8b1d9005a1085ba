"""Load stored reports. Compute missing reports, and show a progress bar."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, TypeVar

import streamlit as st

from selfattn.dashboard import session
from selfattn.dashboard.cache import cached, encoder_key, is_cached
from selfattn.encoders.encoder import Encoder, Progress
from selfattn.examples import labelled_sentences
from selfattn.stored_reports import KINDS, Stored, stored

T = TypeVar("T")
NAMES = {kind.type: name for name, kind in KINDS.items()}


labelled = cache(labelled_sentences)


@cache
def _sentences(name: str) -> object:
    return KINDS[name].reads()


def stored_report(kind: type[T], encoder: Encoder) -> Stored[T] | None:
    """Return the encoder's stored report, if any."""
    name = NAMES[kind]
    key = ("stored", name)
    read = lambda: stored(name, encoder, _sentences(name))  # noqa: E731
    if is_cached(encoder, key):
        return cached(encoder, key, lambda _: read())
    found = read()  # None isn't cached: the report may be stored later
    return cached(encoder, key, lambda _: found) if found else None


def stoppable(encoder: Encoder, key: Any, title: str, make: Callable[[Progress], T]) -> T:
    """Return the result of make(progress), cached. A click on Stop ends this run of the page."""
    asked = (encoder_key(encoder), key)
    if session.STOPPED.get() == asked:
        st.text("Stopped.")
        st.button("Run it again", key="run again", on_click=session.STOPPED.set, args=(None,))
        st.stop()
    place = bar = st.empty()
    if not is_cached(encoder, key):
        with place.container(horizontal=True, vertical_alignment="center"):
            bar = st.progress(0.0, title)
            # After a click on Stop, this run ends at the next call of `progress`.
            st.button("Stop", key=f"stop {key}", on_click=session.STOPPED.set, args=(asked,))

    def made(progress: Progress) -> T:
        def show(done: int, total: int) -> None:
            progress(done, total)
            bar.progress(done / total, f"{title} {done} of {total}")

        return make(show)

    found = cached(encoder, key, made, costly=True)
    place.empty()
    return found


def stored_or_made(kind: type[T], encoder: Encoder, title: str) -> tuple[T, Stored[T] | None]:
    """Return the report, and the stored record that contains the report (None if no report was stored)."""
    name, kept = NAMES[kind], stored_report(kind, encoder)
    make: Any = partial(KINDS[name].make, encoder, KINDS[name].reads())
    return kept.report if kept else cached(encoder, name, make, title, costly=True), kept


def say_dates(*reports: Stored | None) -> None:
    """Show the earliest date of these stored reports."""
    date = min(report.date for report in reports if report)
    st.text(f"The results were computed on {date}. The encoder's weights and the sentences haven't changed since.")
