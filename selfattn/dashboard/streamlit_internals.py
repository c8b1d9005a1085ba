"""Every use of undocumented parts of Streamlit, each with Streamlit's issue, as of 2026-11-26 (1.66 and 1.67)."""

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

HELD = 32  # files; each is a few megabytes at most

_places = itertools.count()


def let_navigation_find_the_pages() -> None:
    """Keep Streamlit from showing "page not found" to the first visitor of a deep link because of the folder pages/.

    streamlit/streamlit#8860 and #9992: closed, but a folder pages/ still causes it if st.navigation is used.
    """
    PagesManager.uses_pages_directory = False


def this_session() -> Any:
    """The visitor's session that this thread works for, or None.

    streamlit/streamlit#315, open: Streamlit doesn't support an app's own threads, and has no public call for this.
    """
    return get_script_run_ctx(suppress_warning=True)


def came_back() -> bool:
    """True in the run that follows Back or Forward in the browser. Streamlit has no public call for this; no issue was found."""
    return this_session().is_history_navigation


def restore_address() -> None:
    """After Back or Forward, give the page's widgets all parameters of the address that the browser restored.

    Streamlit removes each parameter that a widget of the previous page binds, even if this page binds a parameter of that name.
    No issue was found.
    """
    context = this_session()
    asked = parse_qs(context.query_string, keep_blank_values=True)
    st.query_params.update({key: values for key, values in asked.items() if key not in st.query_params})
    state = context.session_state
    with state.query_params() as parameters:
        parameters.set_initial_query_params_from_current()


@contextmanager
def working_for(session: Any) -> Iterator[None]:
    """Attach this thread to a session inside the `with`, and detach it afterwards: threads are reused. #315, as above."""
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
    """Keep a file that was made for a download until HELD newer ones exist.

    Streamlit stores the result of a download button's callable without a session, and the second page run to end after that,
    of any visitor, removes the file. With many visitors that often happens before the browser has fetched the file, and the
    download ends in a 404. The callables came with streamlit/streamlit#12942; no issue was found about the files that vanish.
    """
    with working_for(SimpleNamespace(session_id="downloads")):  # acts as a visitor who never leaves
        # The same bytes, kind and name give the file that Streamlit stores a moment later.
        files = runtime.get_instance().media_file_mgr
        files.add(data, kind, f"held-{next(_places) % HELD}", file_name=file_name, is_for_static_download=True)


def stop_if_left(session: Any) -> None:
    """Raise ConnectionAbortedError if the session's tab is closed: nobody will fetch the file.

    The runtime has no documented call for this; #315, as above.
    """
    if session is not None and runtime.exists() and not runtime.get_instance().is_active_session(session.session_id):
        raise ConnectionAbortedError("The visitor has left.")


def bound_uploads(most: int) -> None:
    """Limit all uploaded files together to `most` bytes: the oldest are removed, and their pages ask for them again.

    Streamlit limits the size of one file, not the number of files, and keeps them until their session ends. One visitor could
    fill the memory with files that no page has read. No issue was found.
    """
    manager: Any = runtime.get_instance().uploaded_file_mgr  # its public interface has only reading methods
    add, sizes, adding = manager.add_file, {}, threading.Lock()

    def add_file(session_id: str, file: Any) -> None:
        with adding:
            add(session_id, file)
            sizes[session_id, file.file_id] = len(file.data)
            for session, name in list(sizes):
                if not manager.get_files(session, [name]):
                    del sizes[session, name]  # its visitor has left or removed it
            while sum(sizes.values()) > most and len(sizes) > 1:
                oldest = next(iter(sizes))
                manager.remove_file(*oldest)
                del sizes[oldest]

    manager.add_file = add_file
