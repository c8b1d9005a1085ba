"""Rerun a part of a page."""

import copy
from collections.abc import Callable

import streamlit as st

from selfattn.dashboard import session
from selfattn.dashboard.figures import show_error, this_page
from selfattn.dashboard.queue import page_run
from selfattn.encoders.errors import NotFinite, OutOfMemory


def show_part(key: str, show: Callable[[], None]) -> None:
    """Draw a part of the page with `show`. To rerun this part alone, a callback calls st.rerun([key])."""
    record, failed = this_page(), list[Exception]()

    def part() -> None:
        # A rerun of this part can't write into the page's container for messages: add a container here.
        # Add the container in every run, or the browser would build all elements below anew.
        news = st.container()
        if session.RECORD.get() is record:  # the whole page is running
            try:
                show()
            except (NotFinite, OutOfMemory) as error:  # otherwise Streamlit shows a traceback here
                failed.append(error)
            return
        again = copy.copy(record)  # opening "Download" reruns the whole page
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
        raise failed[0]
