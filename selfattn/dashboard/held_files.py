"""Files made when a visitor asks for them, and kept long enough to be fetched.

Streamlit calls a download button's callable on the click and stores the result for nobody: the second page run that ends
on the server, anyone's, removes it. With many visitors that is often before the browser has fetched it, and the download
ends in a 404. So the latest files are held here, a fixed number of them for the whole server.
"""

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from streamlit import runtime
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

HELD = 32  # files; each is a few megabytes at most

_places = itertools.count()


def on_demand(make: Callable[[], str | bytes], kind: str, file_name: str) -> Callable[[], bytes]:
    """The callable for st.download_button(..., file_name, kind): make(), held until HELD newer files are there.

    Streamlit calls it on a thread of its own; there make() sees the visitor's session, their theme for one.
    """
    session = get_script_run_ctx(suppress_warning=True)

    def made() -> bytes:
        with _in_session(session):
            content = make()
        data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
        place = f"held-{next(_places) % HELD}"
        with _in_session(_Held()):
            # The same bytes, kind and name give the same file that Streamlit stores a moment later.
            files = runtime.get_instance().media_file_mgr
            files.add(data, kind, place, file_name=file_name, is_for_static_download=True)
        return data

    return made


class _Held:
    """Stands for a visitor who never leaves, as the owner of the files that are held."""

    session_id = "downloads"


@contextmanager
def _in_session(session: Any) -> Iterator[None]:
    """This thread belongs to a session for a while; threads are used again, so it must not stay."""
    if session is None:
        yield
        return
    thread = threading.current_thread()
    before = get_script_run_ctx(suppress_warning=True)
    add_script_run_ctx(thread, session)
    try:
        yield
    finally:
        if before is None:
            del thread.streamlit_script_run_ctx
        else:
            add_script_run_ctx(thread, before)
