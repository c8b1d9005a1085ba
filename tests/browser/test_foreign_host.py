"""Test the protection from DNS rebinding."""

import socket
from urllib.parse import urlparse

import pytest

UPGRADE = (
    "GET /_stcore/stream HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: streamlit\r\n\r\n"
)


def answer(address: str, name: str) -> int:
    """Return the HTTP status of a websocket request to `address`, with the host name `name`."""
    where = urlparse(address)
    with socket.create_connection((where.hostname, where.port), timeout=20) as connection:
        connection.sendall(UPGRADE.format(host=f"{name}:{where.port}").encode())
        return int(connection.recv(100).split()[1])


@pytest.mark.browser
def test_only_local_host_names_get_websocket(server):
    assert [answer(server, name) for name in ("localhost", "127.0.0.1")] == [101, 101]
    assert [answer(server, name) for name in ("evil.example", "localhost.evil.example")] == [403, 403]
