"""Test the limit on the total size of uploaded files."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

import app
from selfattn.dashboard import streamlit_internals


@pytest.fixture
def uploads(monkeypatch):
    """Run app.py's start-up code with an upload limit of 3 MB. Return the manager of uploaded files."""
    monkeypatch.setenv("SELFATTN_UPLOADED_MEGABYTES", "3")
    manager = MemoryUploadedFileManager("/upload")
    server = SimpleNamespace(uploaded_file_mgr=manager)
    monkeypatch.setattr(streamlit_internals.runtime, "get_instance", lambda: server)

    async def start() -> None:
        async with app.started(None):
            pass

    with ThreadPoolExecutor(1) as own_thread:  # this thread may have a running event loop
        own_thread.submit(asyncio.run, start()).result()
    return manager


def test_upload_limit_removes_oldest_files(uploads):
    for session, name in (("first", "1"), ("second", "2"), ("second", "3")):
        add(uploads, session, name, 1)
    assert held(uploads) == {"1", "2", "3"}
    add(uploads, "second", "4", 2)
    assert held(uploads) == {"3", "4"}
    uploads.remove_session_files("second")
    for name in "567":
        add(uploads, "third", name, 1)
    assert held(uploads) == {"5", "6", "7"}
    add(uploads, "fourth", "8", 5)  # the newest file stays, even if it is too large
    assert held(uploads) == {"8"}


def add(uploads, session: str, name: str, megabytes: int) -> None:
    uploads.add_file(session, UploadedFileRec(name, f"{name}.csv", "text/csv", bytes(megabytes * 2**20)))


def held(uploads) -> set[str]:
    return {name for files in uploads.file_storage.values() for name in files}
