"""Test the process that draws pictures for downloads."""

import os
import sys
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from subprocess import PIPE, Popen
from types import SimpleNamespace
from unittest.mock import Mock

import psutil
import pytest
import vl_convert as vlc

from selfattn.dashboard import download, picture_process, streamlit_internals
from selfattn.dashboard.picture_process import Painter
from selfattn.export import files
from selfattn.export.provenance import Provenance

SPEC = {"mark": "bar", "data": {"values": [{"x": 1}]}, "encoding": {"x": {"field": "x", "type": "quantitative"}}}


@pytest.fixture
def worker():
    """Return a function that finds the process that draws pictures."""
    yield lambda: psutil.Process(picture_process._submit(os.getpid).result(60))
    picture_process._pool().shutdown()
    picture_process._pool.cache_clear()


@pytest.mark.slow
def test_picture_process_draws_same_picture_as_main_process(worker):
    here = files.png(SPEC, Provenance(title="bars"), width=300)
    token = files.painter.set(Painter())
    try:
        for _ in range(2):  # the first process, then its replacement
            assert files.png(SPEC, Provenance(title="bars"), width=300) == here
            drew = worker()
            assert (drew.pid != os.getpid(), drew.nice()) == (True, min(19, psutil.Process().nice() + 10))
            assert not [each.path for each in drew.memory_maps() if "libtorch" in each.path]
            drew.kill()
            drew.wait(10)
    finally:
        files.painter.reset(token)


def test_dead_picture_process_is_replaced(monkeypatch):
    broken, drawn = Future(), Future()
    broken.set_exception(BrokenProcessPool())
    drawn.set_result("<svg/>")
    futures = [broken, drawn, broken, broken]
    monkeypatch.setattr(picture_process, "_submit", lambda *_: futures.pop(0))
    assert Painter().vegalite_to_svg({}) == "<svg/>"
    with pytest.raises(RuntimeError, match="took more than 60 s, or too much memory"):
        Painter().vegalite_to_svg(SPEC)
    assert not futures


@pytest.mark.slow
def test_process_that_draws_too_long_is_replaced(worker, monkeypatch):
    before = worker()
    monkeypatch.setattr(picture_process, "LONGEST", 0.2)
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="7000" height="7000"><rect width="7000" height="7000"/></svg>'
    with pytest.raises(RuntimeError, match=r"took more than 0.2 s, or too much memory\. Choose a smaller width"):
        Painter().svg_to_png(svg)
    assert worker().pid != before.pid


SERVER = """
import os
from selfattn.dashboard.picture_process import _submit
if __name__ == "__main__":
    print(_submit(os.getpid).result(), flush=True)
    input()
"""


@pytest.mark.slow
def test_picture_process_ends_with_server(tmp_path):
    (tmp_path / "server.py").write_text(SERVER)
    command = [sys.executable, tmp_path / "server.py"]
    paths = os.pathsep.join(filter(None, [os.getcwd(), *sys.path]))
    with Popen(command, stdin=PIPE, stdout=PIPE, env={**os.environ, "PYTHONPATH": paths}) as server:
        drew = psutil.Process(int(server.stdout.readline()))
        server.kill()
    drew.wait(10)


def test_one_picture_is_drawn_at_a_time(monkeypatch):
    held = []
    monkeypatch.setattr(picture_process, "_ask", lambda *_: held.append(picture_process._one_at_a_time.locked()))
    Painter().vegalite_to_svg(SPEC)
    assert held == [True] and not picture_process._one_at_a_time.locked()


def test_nothing_is_drawn_after_visitor_left(monkeypatch):
    left = Mock(side_effect=ConnectionAbortedError)
    monkeypatch.setattr(picture_process, "_submit", lambda *_: pytest.fail("the picture was drawn"))
    for draw in (Painter(left).vegalite_to_svg, Painter(left).svg_to_png):
        with pytest.raises(ConnectionAbortedError):
            draw(SPEC)


def test_closed_tab_stops_download(monkeypatch):
    active = {"here"}
    server = SimpleNamespace(is_active_session=active.__contains__)
    monkeypatch.setattr(streamlit_internals.runtime, "exists", lambda: True)
    monkeypatch.setattr(streamlit_internals.runtime, "get_instance", lambda: server)
    streamlit_internals.stop_if_left(SimpleNamespace(session_id="here"))
    streamlit_internals.stop_if_left(None)
    with pytest.raises(ConnectionAbortedError, match="left"):
        streamlit_internals.stop_if_left(SimpleNamespace(session_id="gone"))


def test_only_downloads_use_picture_process(monkeypatch):
    made = []
    monkeypatch.setattr(download.st, "download_button", lambda label, make, *_, **options: made.append(make))
    monkeypatch.setattr(download, "hold_file", lambda *_: None)
    download.file_button("PNG", lambda: type(files.painter.get()).__name__, "a.png", "image/png", "key")
    assert made[0]() == b"Painter"
    assert files.painter.get() is vlc
