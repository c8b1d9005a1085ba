"""DNS rebinding: a page of another name that leads to this machine gets no websocket."""

import socket
from urllib.parse import urlparse

import pytest

from tests.soak.server import start_server
from tests.soak.session import Session

UPGRADE = (
    "GET /_stcore/stream HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: streamlit\r\n\r\n"
)


def answer(address: str, name: str) -> int:
    """The HTTP status of a websocket request under this name: 101 is a websocket."""
    where = urlparse(address)
    with socket.create_connection((where.hostname, where.port), timeout=20) as connection:
        connection.sendall(UPGRADE.format(host=f"{name}:{where.port}").encode())
        return int(connection.recv(100).split()[1])


@pytest.mark.browser
def test_only_this_machines_names_get_a_websocket(server):
    assert [answer(server, name) for name in ("localhost", "127.0.0.1")] == [101, 101]
    assert [answer(server, name) for name in ("evil.example", "localhost.evil.example")] == [403, 403]


@pytest.mark.long
def test_a_server_under_its_own_name_serves_what_its_operator_offers():
    process, address = start_server(
        STREAMLIT_SERVER_ADDRESS="0.0.0.0", STREAMLIT_SERVER_ALLOWED_HOSTS="selfattn.example.org localhost"
    )
    try:
        names = ("selfattn.example.org", "localhost", "evil.example", "127.0.0.1")
        assert [answer(address, name) for name in names] == [101, 101, 403, 403]
        with Session(address) as session:
            assert session.open("").charts
            assert "other" not in session.widgets  # nothing but the list to choose from
    finally:
        process.terminate()
        process.wait(10)
