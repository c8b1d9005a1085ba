"""Downloads are drawn by another process: the same pictures, one process, a new one where it died."""

import os
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
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


@pytest.fixture(autouse=True)
def nothing_drawn():
    picture_process._drawn.clear()


@pytest.fixture
def worker():
    """worker() is the process that draws."""
    yield lambda: psutil.Process(picture_process._submit(os.getpid).result(60))
    picture_process._pool().shutdown()
    picture_process._pool.cache_clear()


@pytest.mark.slow
def test_same_picture_from_another_process(worker):
    here = files.png(SPEC, Provenance(title="bars"), width=300)
    token = files.painter.set(Painter())
    try:
        for _ in range(2):  # by the first process, then by one that replaces it
            assert files.png(SPEC, Provenance(title="bars"), width=300) == here
            drew = worker()
            assert (drew.pid != os.getpid(), drew.nice()) == (True, min(19, psutil.Process().nice() + 10))
            assert not [each.path for each in drew.memory_maps() if "libtorch" in each.path]
            drew.kill()
            drew.wait(10)
            picture_process._drawn.clear()
    finally:
        files.painter.reset(token)


def test_a_process_that_had_ended_unnoticed_is_replaced(monkeypatch):
    broken, drawn = Future(), Future()
    broken.set_exception(BrokenProcessPool())
    drawn.set_result("<svg/>")
    futures = [broken, drawn, broken, broken]
    monkeypatch.setattr(picture_process, "_submit", lambda *_: futures.pop(0))
    assert Painter().vegalite_to_svg({}) == "<svg/>"
    with pytest.raises(RuntimeError, match="took more than 60 s, or too much memory"):
        Painter().vegalite_to_svg(SPEC)
    assert not futures


def test_repeated_picture(monkeypatch):
    asked = []
    monkeypatch.setattr(picture_process, "_ask", lambda how, what, options: asked.append(options) or bytes(400))
    monkeypatch.setattr(picture_process, "KEPT", 1000)
    monkeypatch.setattr(picture_process, "_drawn", picture_process.cachetools.LRUCache(1000, getsizeof=len))
    for ppi in (72, 144, 72):
        assert Painter().svg_to_png("<svg/>", ppi=ppi) == bytes(400)
    assert asked == [{"ppi": 72}, {"ppi": 144}]
    Painter().svg_to_png("<svg/>", ppi=216)  # there is room for two: the one of 144 goes
    Painter().svg_to_png("<svg/>", ppi=72)
    Painter().svg_to_png("<svg/>", ppi=144)
    assert [each["ppi"] for each in asked] == [72, 144, 216, 144]
    monkeypatch.setattr(picture_process, "_ask", lambda *_: bytes(2000))
    assert len(Painter().svg_to_png("<svg></svg>")) == 2000 and picture_process._drawn.currsize == 800


def test_two_ask_for_one_picture(monkeypatch):
    asked, begun, go_on = [], threading.Event(), threading.Event()

    def ask(*how):
        asked.append(how)
        begun.set()
        go_on.wait(10)
        return "<svg/>"

    monkeypatch.setattr(picture_process, "_ask", ask)
    with ThreadPoolExecutor(2) as visitors:
        first = visitors.submit(Painter().vegalite_to_svg, SPEC)
        begun.wait(10)
        second = visitors.submit(Painter().vegalite_to_svg, SPEC)
        go_on.set()
        assert (first.result(10), second.result(10), len(asked)) == ("<svg/>", "<svg/>", 1)


def test_pictures_of_one_file_come_together(monkeypatch):
    order, between = [], threading.Event()
    monkeypatch.setattr(picture_process, "_ask", lambda how, what, _: order.append(what) or what)

    def other():
        between.set()
        Painter().svg_to_png("other")

    with ThreadPoolExecutor(1) as visitors:
        with picture_process.drawn_elsewhere(lambda: None, one_file=True):
            files.painter.get().vegalite_to_svg("svg")
            waiting = visitors.submit(other)
            between.wait(10)
            time.sleep(0.1)
            files.painter.get().svg_to_png("png")
        waiting.result(10)
    assert order == ["svg", "png", "other"]


def test_known_picture_waits_for_nobody(monkeypatch):
    monkeypatch.setattr(picture_process, "_ask", lambda *_: "<svg/>")
    Painter().vegalite_to_svg(SPEC)
    with picture_process._one_at_a_time, ThreadPoolExecutor(1) as visitors:
        assert visitors.submit(Painter().vegalite_to_svg, SPEC).result(10) == "<svg/>"


@pytest.mark.slow
def test_a_picture_that_takes_too_long(worker, monkeypatch):
    before = worker()
    monkeypatch.setattr(picture_process, "LONGEST", 0.2)
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="7000" height="7000"><rect width="7000" height="7000"/></svg>'
    with pytest.raises(RuntimeError, match=r"took more than 0.2 s, or too much memory\. Choose a smaller one"):
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
def test_ends_with_a_server_that_was_killed(tmp_path):
    (tmp_path / "server.py").write_text(SERVER)
    command = [sys.executable, tmp_path / "server.py"]
    paths = os.pathsep.join(filter(None, [os.getcwd(), *sys.path]))
    with Popen(command, stdin=PIPE, stdout=PIPE, env={**os.environ, "PYTHONPATH": paths}) as server:
        drew = psutil.Process(int(server.stdout.readline()))
        server.kill()
    drew.wait(10)


def test_who_has_left_gets_no_further_picture(monkeypatch):
    left = Mock(side_effect=ConnectionAbortedError)
    monkeypatch.setattr(picture_process, "_submit", lambda *_: pytest.fail("drawn"))
    for draw in (Painter(left).vegalite_to_svg, Painter(left).svg_to_png):
        with pytest.raises(ConnectionAbortedError):
            draw(SPEC)


def test_a_closed_tab_ends_what_is_being_made_for_it(monkeypatch):
    active = {"here"}
    server = SimpleNamespace(is_active_session=active.__contains__)
    monkeypatch.setattr(streamlit_internals.runtime, "exists", lambda: True)
    monkeypatch.setattr(streamlit_internals.runtime, "get_instance", lambda: server)
    streamlit_internals.stop_if_left(SimpleNamespace(session_id="here"))
    streamlit_internals.stop_if_left(None)
    with pytest.raises(ConnectionAbortedError, match="left"):
        streamlit_internals.stop_if_left(SimpleNamespace(session_id="gone"))


def test_a_download_is_drawn_elsewhere_and_only_a_download(monkeypatch):
    made = []
    monkeypatch.setattr(download.st, "download_button", lambda label, make, *_, **options: made.append(make))
    monkeypatch.setattr(download, "hold_file", lambda *_: None)
    download.file_button("PNG", lambda: type(files.painter.get()).__name__, "a.png", "image/png", "key")
    assert made[0]() == b"Painter"
    assert files.painter.get() is vlc
