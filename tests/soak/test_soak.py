"""Fifty visitors in real sessions: no error, nothing in the log, and memory that doesn't grow."""

import pytest

from tests.browser.conftest import start_server
from tests.soak.session import Session
from tests.soak.visitors import soak


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A warm server: its address, its process id, and the file of its log."""
    monkeypatch.setenv("STREAMLIT_LOGGER_LEVEL", "error")
    process, address = start_server()
    with Session(address) as session:
        assert not session.open().exceptions
    yield address, process.pid
    process.terminate()
    process.wait(10)


def test_visitors_for_twenty_seconds(server, capfd):
    address, pid = server
    found = soak(address, pid, visitors=20, seconds=20, thought=1.0)
    print(found.table())
    assert not found.trouble, found.trouble
    assert sum(map(len, found.seconds.values())) > 40
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_fifty_visitors_for_ten_minutes(server, capfd):
    address, pid = server
    found = soak(address, pid, visitors=50, seconds=600, thought=4.0)
    print(found.table())
    assert not found.trouble, found.trouble
    assert "Traceback" not in capfd.readouterr().err
    middle = [mb for seconds, mb in found.memory if 240 <= seconds < 420]
    end = [mb for seconds, mb in found.memory if seconds >= 420]
    assert sum(end) / len(end) < 1.1 * sum(middle) / len(middle)
