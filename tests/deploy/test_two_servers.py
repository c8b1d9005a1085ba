"""Test deploy/nginx.conf with a real nginx and two servers."""

import os
import re
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

from benchmarks.server import free_port, start_server
from benchmarks.session import Session

pytestmark = pytest.mark.long
RECIPE = Path(__file__).parents[2] / "deploy" / "nginx.conf"
LINK = "a=The+bank+of+snow+was+high.&b=The+bank+approved+the+loan.&word=bank&head=L3+H7"


def find_nginx() -> str | None:
    """Return the path of nginx. If nginx is missing and the user is root, install nginx first."""
    if shutil.which("nginx") is None and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "nginx-light"], check=False)
    return shutil.which("nginx")


@pytest.fixture
def proxied(tmp_path):
    """Start nginx and two servers; return nginx's address and the servers' processes."""
    nginx = find_nginx()
    if nginx is None:
        pytest.skip("no nginx on this machine, and none could be installed")
    servers = {address.removeprefix("http://").replace("localhost", "127.0.0.1"): process
               for process, address in (start_server(), start_server())}  # fmt: skip
    port = free_port()
    recipe = RECIPE.read_text("utf-8").replace("127.0.0.1:8080", f"127.0.0.1:{port}")
    for old, new in zip(("127.0.0.1:8501", "127.0.0.1:8502"), servers):
        recipe = recipe.replace(old, new)
    recipe = recipe.replace("add_header", "add_header X-Served-By $upstream_addr always; add_header", 1)
    folders = "".join(f"{kind}_temp_path {tmp_path};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    recipe = recipe.replace("http {", f"http {{ access_log off; {folders}", 1)
    (tmp_path / "conf").write_text(f"pid {tmp_path}/pid; daemon off; error_log {tmp_path}/log;\n{recipe}", "utf-8")
    proxy = subprocess.Popen([nginx, "-p", str(tmp_path), "-c", str(tmp_path / "conf")])
    address = f"http://127.0.0.1:{port}"
    while _get(f"{address}/_stcore/health")[0] != "ok":
        assert proxy.poll() is None
        time.sleep(0.2)
    yield address, servers
    for process in (proxy, *servers.values()):
        process.terminate()
        process.wait(10)


def test_visitors_reach_other_server_if_theirs_dies(proxied):
    address, servers = proxied
    visitors = [_new_visitor(address) for _ in range(12)]
    homes = [home for _, home in visitors]
    assert set(homes) == set(servers)  # both servers have visitors
    for cookie, home in visitors:
        assert {_get(f"{address}/", cookie)[1] for _ in range(3)} == {home}

    dead, alive = servers
    cookie = next(cookie for cookie, home in visitors if home == dead)
    before = _readings(address, cookie)
    servers[dead].kill()
    servers[dead].wait(10)
    for each, _ in visitors:
        body, home = _get(f"{address}/_stcore/health", each)
        assert (body, home.split(", ")[-1]) == ("ok", alive)
    assert _readings(address, cookie) == before  # a link opens the same view on either server
    assert any(
        "except the words with the largest effects, gives the two vectors a cosine of at most 0.87." in text
        for text in before
    )


def _readings(address: str, cookie: str) -> list[str]:
    with Session(address, {"Cookie": cookie}) as session:
        run = session.open("", LINK)
        assert not run.exceptions
    return [text for text in run.texts if re.search('L3 H7|other words|"bank"', text)]


def _new_visitor(address: str) -> tuple[str, str]:
    with urllib.request.urlopen(f"{address}/", timeout=10) as response:
        return response.headers["Set-Cookie"].split(";")[0], response.headers["X-Served-By"]


def _get(address: str, cookie: str = "") -> tuple[str, str]:
    try:
        request = urllib.request.Request(address, headers={"Cookie": cookie})
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.read().decode("utf-8", "replace"), response.headers.get("X-Served-By", "")
    except OSError:
        return "", ""
