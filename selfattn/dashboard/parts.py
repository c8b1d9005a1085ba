"""Parts of a page that rerun on their own, and show errors as pages do."""

import copy
from collections.abc import Callable

import streamlit as st

from selfattn.dashboard import session
from selfattn.dashboard.figures import show_error, this_page
from selfattn.dashboard.queue import page_run
from selfattn.encoders.errors import NotFinite, OutOfMemory


def show_part(key: str, show: Callable[[], None]) -> None:
    """Call `show` now, and alone whenever a callback ends in st.rerun([key, ...])."""
    record = this_page()

    def part() -> None:
        # Make room for progress in each run: a part can fill only its own, and adding it later would remount all below.
        news = st.container()
        if session.RECORD.get() is record:  # the whole page is running
            show()
            return
        again = copy.copy(record)  # its figures are dropped: "Download" reruns the whole page
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
