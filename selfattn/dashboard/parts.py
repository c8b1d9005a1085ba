"""Parts of a page that rerun on their own, and show errors as pages do."""

import copy
from collections.abc import Callable
from contextlib import nullcontext

import streamlit as st

from selfattn.dashboard import session
from selfattn.dashboard.figures import show_error, this_page
from selfattn.dashboard.queue import page_run
from selfattn.encoders.errors import NotFinite, OutOfMemory


def show_part(key: str, show: Callable[[], None], *, computes: bool = True) -> None:
    """Call `show` now, and alone whenever a callback ends in st.rerun([key, ...]). computes: it may show progress."""
    record = this_page()

    def part() -> None:
        # Make room for progress in each run: a part can fill only its own, and adding it later would remount all below.
        news = st.container() if computes else record.news
        if session.RECORD.get() is record:  # the whole page is running
            show()
            return
        again = copy.copy(record)  # its figures are dropped: "Download" reruns the whole page
        again.news, again.panels, again.tables = news, [], {}
        session.RECORD.set(again)
        # A part that computes nothing needs no place: it runs at once.
        with page_run(news) if computes else nullcontext():
            try:
                show()
            except (NotFinite, OutOfMemory) as error:
                show_error(error)
            finally:
                del st.session_state[session.RECORD]

    st.fragment(part, key=key)()
