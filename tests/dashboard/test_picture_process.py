"""Downloads are drawn by a process of their own: the same pictures, one process, a new one where it died."""

import os
import signal
from types import SimpleNamespace
from unittest.mock import Mock

import psutil
import pytest
import vl_convert as vlc

from selfattn.dashboard import download, picture_process, streamlit_internals
from selfattn.dashboard.picture_process import Painter
from selfattn.encoders.bounded_process import BoundedProcess
from selfattn.export import files
from selfattn.export.provenance import Provenance

SPEC = {"mark": "bar", "data": {"values": [{"x": 1}]}, "encoding": {"x": {"field": "x", "type": "quantitative"}}}


@pytest.mark.slow
def test_the_same_picture_comes_from_another_process_and_a_new_one_where_that_has_died(monkeypatch):
    here, process = files.png(SPEC, Provenance(title="bars"), width=300), BoundedProcess()
    monkeypatch.setattr(picture_process, "_drawing", process)
    token = files.painter.set(Painter())
    try:
        for _ in range(2):
            assert files.png(SPEC, Provenance(title="bars"), width=300) == here
            drew = process.call("os:getpid", seconds=60)
            assert drew != os.getpid()
            os.kill(drew, signal.SIGKILL)
            psutil.Process(drew).wait(10)
    finally:
        files.painter.reset(token)
        process.end()


def test_who_has_left_gets_no_further_picture(monkeypatch):
    left, unstarted = Mock(side_effect=ConnectionAbortedError), BoundedProcess()
    monkeypatch.setattr(picture_process, "_drawing", unstarted)
    for draw in (Painter(left).vegalite_to_svg, Painter(left).svg_to_png):
        with pytest.raises(ConnectionAbortedError):
            draw(SPEC)
    assert unstarted._peer is None  # nothing was asked of it


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
