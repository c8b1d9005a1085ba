"""Files are made when they are asked for, and are still there when the browser comes for them."""

import urllib.request

import pytest

from tests.soak.server import trouble_in, warm_server
from tests.soak.session import Session

pytestmark = pytest.mark.long


def test_a_file_waits_for_its_visitor_while_others_come_and_go(tmp_path):
    with warm_server(tmp_path / "log") as (address, _), Session(address) as visitor:
        visitor.open("", "head=L3+H7")
        assert not visitor.has_download("PNG")  # nothing is sent before the button is opened
        visitor.set(download=True)
        files = {label: visitor.prepare(label) for label in ("PNG", "CSV", "Everything (ZIP)")}
        for _ in range(3):
            with Session(address) as other:
                assert not other.open().exceptions
        found = {label: _fetched(file) for label, file in files.items()}
    assert found["PNG"].startswith(b"\x89PNG")
    assert found["CSV"].startswith(b"query_pos")
    assert found["Everything (ZIP)"].startswith(b"PK")
    assert not trouble_in(tmp_path / "log")
    assert "ScriptRunContext" not in (tmp_path / "log").read_text("utf-8")


def _fetched(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=30) as response:
        return response.read()
