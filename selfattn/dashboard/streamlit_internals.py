"""Use undocumented parts of Streamlit 1.66 and 1.67.

The docstrings below say which GitHub issues were open and which were closed on 2026-11-26.
"""

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import streamlit as st
from streamlit import runtime
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

HELD = 32  # downloads kept; each file is a few megabytes at most

_places = itertools.count()


def let_navigation_find_the_pages() -> None:
    """Tell Streamlit not to look for pages in the folder pages/.

    Otherwise the server's first visitor sees "page not found" after opening a link to a page
    (streamlit/streamlit#8860 and #9992, closed).
    """
    PagesManager.uses_pages_directory = False


def this_session() -> Any:
    """Return this thread's session, or None. See the open GitHub issue streamlit/streamlit#315."""
    return get_script_run_ctx(suppress_warning=True)


def came_back() -> bool:
    """Return True if the browser's Back or Forward started this run of the page."""
    return this_session().is_history_navigation


def restore_address() -> None:
    """After the browser's Back or Forward, give the restored address to the widgets.

    Streamlit drops parameters to which the previous page's widgets are bound. We found no GitHub issue about this.
    """
    context = this_session()
    asked = parse_qs(context.query_string, keep_blank_values=True)
    st.query_params.update({key: values for key, values in asked.items() if key not in st.query_params})
    state = context.session_state
    with state.query_params() as parameters:
        parameters.set_initial_query_params_from_current()


@contextmanager
def working_for(session: Any) -> Iterator[None]:
    """Attach this thread to a visitor's session while the `with` block runs."""
    if session is None:
        yield
        return
    thread, before = threading.current_thread(), this_session()
    add_script_run_ctx(thread, session)
    try:
        yield
    finally:
        if before is None:
            del vars(thread)["streamlit_script_run_ctx"]
        else:
            add_script_run_ctx(thread, before)


def hold_file(data: bytes, kind: str, file_name: str) -> None:
    """Keep a downloadable file until HELD newer files exist.

    Otherwise Streamlit (since streamlit/streamlit#12942) removes a file after two more page runs by any visitors, so
    downloads often end in a 404. We found no GitHub issue about this.
    """
    with working_for(SimpleNamespace(session_id="downloads")):  # a session that never ends
        # When the download button later adds the same bytes, Streamlit uses the file that is added here.
        files = runtime.get_instance().media_file_mgr
        files.add(data, kind, f"held-{next(_places) % HELD}", file_name=file_name, is_for_static_download=True)


def stop_if_left(session: Any) -> None:
    """Raise ConnectionAbortedError if the session's tab is closed."""
    if session is not None and runtime.exists() and not runtime.get_instance().is_active_session(session.session_id):
        raise ConnectionAbortedError("The visitor has left.")


def bound_uploads(most: int) -> None:
    """Limit all uploads together to `most` bytes; remove the oldest first.

    Streamlit limits only the size of each file. We found no GitHub issue about this.
    """
    manager: Any = runtime.get_instance().uploaded_file_mgr  # its public interface can only read
    add, sizes, adding = manager.add_file, {}, threading.Lock()

    def add_file(session_id: str, file: Any) -> None:
        with adding:
            add(session_id, file)
            sizes[session_id, file.file_id] = len(file.data)
            for session, name in list(sizes):
                if not manager.get_files(session, [name]):
                    del sizes[session, name]  # the visitor has left, or has removed the file
            while sum(sizes.values()) > most and len(sizes) > 1:
                oldest = next(iter(sizes))
                manager.remove_file(*oldest)
                del sizes[oldest]

    manager.add_file = add_file
