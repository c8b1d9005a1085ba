"""Downloads are drawn by a process of their own: the same pictures, one process, a new one where it died."""

import os
import signal
from types import SimpleNamespace

import pytest
import vl_convert as vlc

from selfattn.dashboard import download, picture_process, streamlit_internals
from selfattn.dashboard.picture_process import Painter
from selfattn.export import files
from selfattn.export.provenance import Provenance

SPEC = {"mark": "bar", "data": {"values": [{"x": 1}]}, "encoding": {"x": {"field": "x", "type": "quantitative"}}}


@pytest.fixture(scope="module")
def process():
    """One for all these tests: its first picture takes a second."""
    own = picture_process._Painting()
    yield own
    own._end()


@pytest.fixture
def painting(monkeypatch, process):
    """Whatever asks for a process gets that one."""
    monkeypatch.setattr(picture_process, "_painting", process)
    return process


@pytest.fixture
def unstarted(monkeypatch):
    """Whatever asks for a process would start it."""
    own = picture_process._Painting()
    monkeypatch.setattr(picture_process, "_painting", own)
    return own


@pytest.fixture
def painted(painting):
    """Whatever the library draws inside this test, it asks the process for."""
    token = files.painter.set(Painter())
    yield painting
    files.painter.reset(token)


@pytest.mark.slow
def test_the_same_picture_comes_from_one_other_process(painted):
    drawn = [files.png(SPEC, Provenance(title="bars"), width=300) for _ in range(2)]
    assert painted._process.pid != os.getpid()
    files.painter.set(vlc)
    assert drawn == [files.png(SPEC, Provenance(title="bars"), width=300)] * 2


@pytest.mark.slow
def test_what_vl_convert_refuses_comes_back_as_its_own_error(painting):
    with pytest.raises(ValueError, match="conversion failed"):
        Painter().vegalite_to_svg({"mark": 7}, vl_version="v6.4")
    assert Painter().vegalite_to_svg(SPEC).startswith("<svg")  # and the process draws on


@pytest.mark.slow
def test_a_process_that_died_is_started_anew(painting):
    first, before = Painter().vegalite_to_svg(SPEC), painting._process.pid
    os.kill(before, signal.SIGKILL)
    assert Painter().vegalite_to_svg(SPEC) == first
    assert painting._process.pid != before


def test_a_picture_that_ends_the_process_twice_is_given_up(unstarted, monkeypatch):
    started = []

    class Dying:
        def __init__(self, *command, **options):
            started.append(self)
            self.stdin = self

        def write(self, data):
            raise BrokenPipeError

        def kill(self):
            pass

        communicate = kill

    monkeypatch.setattr(picture_process.subprocess, "Popen", Dying)
    with pytest.raises(RuntimeError, match="twice"):
        Painter().svg_to_png("<svg/>")
    assert len(started) == 2


def test_who_has_left_gets_no_further_picture(unstarted):
    class Left(Exception):
        pass

    def left():
        raise Left

    for draw in (Painter(left).vegalite_to_svg, Painter(left).svg_to_png):
        with pytest.raises(Left):
            draw(SPEC)
    assert unstarted._process is None  # nothing was asked of it


@pytest.mark.slow
def test_it_ends_with_whoever_started_it(painting):
    Painter().vegalite_to_svg(SPEC)
    process, painting._process = painting._process, None
    process.stdin.close()
    assert process.wait(10) == 0
    process.stdout.close()


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
