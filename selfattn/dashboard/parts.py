"""Run a part of a page alone, with errors shown as the page shows them."""

import copy
from collections.abc import Callable

import streamlit as st

from selfattn.dashboard import session
from selfattn.dashboard.figures import show_error, this_page
from selfattn.dashboard.queue import page_run
from selfattn.encoders.errors import NotFinite, OutOfMemory


def show_part(key: str, show: Callable[[], None]) -> None:
    """Call `show` now, and call it again without the rest of the page after each st.rerun([key, ...]) in a callback."""
    record, failed = this_page(), list[Exception]()

    def part() -> None:
        # Each run has a container for progress. A part can fill only its own; adding one later would remount all elements below.
        news = st.container()
        if session.RECORD.get() is record:  # the whole page is running
            try:
                show()
            except (NotFinite, OutOfMemory) as error:  # Streamlit would show its traceback here
                failed.append(error)
            return
        again = copy.copy(record)  # it needs no copy of the figures, because "Download" reruns the complete page
        again.news, again.panels, again.tables = news, [], {}
        session.RECORD.set(again)
        with page_run(news):
            try:
                show()
            except (NotFinite, OutOfMemory) as error:
                show_error(error)
            finally:
                del st.session_state[session.RECORD]

    st.fragment(part, key=key)()
    if failed:
        raise failed[0]  # to the page, which shows it and ends
