"""Parts of a page that run again by themselves; they wait their turn and say errors as pages do."""

import copy
from collections.abc import Callable
from contextlib import nullcontext

import streamlit as st

from selfattn.dashboard import session
from selfattn.dashboard.figures import show_error, this_page
from selfattn.dashboard.queue import page_turn
from selfattn.encoders.errors import NotFinite, OutOfMemory


def show_part(key: str, show: Callable[[], None], *, computes: bool = True) -> None:
    """Call `show` now, and by itself whenever a callback ends in st.rerun([key, ...]). computes: it may have progress to show."""
    record = this_page()

    def part() -> None:
        # Room for what comes and goes, made in each run: else Streamlit would mount all that stands below it anew.
        news = st.container() if computes else record.news
        if session.RECORD.get() is record:  # the whole page is running
            show()
            return
        again = copy.copy(record)  # its figures nobody collects: "Download" runs the whole page
        again.news, again.noted, again.tables = news, [], {}
        session.RECORD.set(again)
        with page_turn(news) if computes else nullcontext():  # a wait is said in `news`: only its own can be filled
            try:
                show()
            except (NotFinite, OutOfMemory) as error:
                show_error(error)
            finally:
                del st.session_state[session.RECORD]

    st.fragment(part, key=key)()
