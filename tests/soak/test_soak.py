"""Many visitors in real sessions: no error, nothing in the log, and memory that doesn't grow."""

import urllib.request

import pytest

from tests.soak.server import trouble_in, warm_server
from tests.soak.session import Session
from tests.soak.visitors import soak


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_fifty_visitors_for_ten_minutes(tmp_path):
    with warm_server(tmp_path / "log") as (address, pid):
        found = soak(address, pid, visitors=50, seconds=600, thought=4.0)
    assert not found.trouble, found.trouble
    assert not trouble_in(tmp_path / "log")
    middle = [mb for seconds, mb in found.memory if 240 <= seconds < 420]
    end = [mb for seconds, mb in found.memory if seconds >= 420]
    assert sum(end) / len(end) < 1.1 * sum(middle) / len(middle)


@pytest.mark.slow
def test_a_page_that_fails_is_noticed(tmp_path):
    """The two nets of the soak: what the session is sent, and the log."""
    (tmp_path / "app.py").write_text("import streamlit as st\nst.text('here')\nraise ValueError('boom')\n")
    with warm_server(tmp_path / "log", tmp_path) as (address, _), Session(address) as session:
        run = session.open()
    assert run.texts == ["here"] and run.exceptions
    assert trouble_in(tmp_path / "log")


@pytest.mark.long
def test_a_file_waits_for_its_visitor_while_others_come_and_go(tmp_path):
    with warm_server(tmp_path / "log") as (address, _), Session(address) as visitor:
        visitor.open("", "head=L3+H7")
        assert "PNG" not in visitor.downloads  # nothing is sent before the button is opened
        visitor.set(download=True)
        files = {label: visitor.prepare(label) for label in ("PNG", "CSV", "Everything (ZIP)")}
        for _ in range(3):
            with Session(address) as other:
                assert not other.open().exceptions
        found = {label: urllib.request.urlopen(file, timeout=30).read() for label, file in files.items()}
    begin = {"PNG": b"\x89PNG", "CSV": b"query_pos", "Everything (ZIP)": b"PK"}
    assert all(found[label].startswith(begun) for label, begun in begin.items())
    assert not trouble_in(tmp_path / "log")
    assert "ScriptRunContext" not in (tmp_path / "log").read_text("utf-8")
