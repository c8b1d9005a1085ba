"""Many visitors in real sessions: no error, nothing in the log, and memory that doesn't grow."""

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
