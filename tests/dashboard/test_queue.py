"""Test the queues for pages and for costly work."""

import threading
import time
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import torch
from streamlit.testing.v1 import AppTest

from selfattn.dashboard import queue


class Superseded(Exception):
    """A stand-in for the exception that ends a page's run when a newer run replaces it."""


@pytest.fixture(autouse=True)
def one_slot(monkeypatch):
    monkeypatch.setattr(queue, "_places", threading.BoundedSemaphore(1))
    monkeypatch.setattr(queue, "_pages", queue._Pages(99))
    monkeypatch.setattr(queue, "_running", set())
    monkeypatch.setattr(queue, "LOOK", 0.01)


def test_costly_work_waits_for_slot(monkeypatch):
    monkeypatch.setattr(queue, "_places", threading.BoundedSemaphore(2))
    at_work, most = [], []

    def visit():
        with queue.costly_slot():
            at_work.append(1)
            time.sleep(0.02)
            most.append(len(at_work))
            at_work.pop()

    visitors = [_started(visit) for _ in range(6)]
    for visitor in visitors:
        visitor.join(10)
    assert len(most) == 6 and max(most) == 2


def test_pages_get_slots_in_order_of_arrival(monkeypatch):
    monkeypatch.setattr(queue, "_pages", queue._Pages(2))
    monkeypatch.setattr(queue, "LOOK", 5)
    order, running, most = [], [], []

    def visit(number):
        with queue.page_run():
            order.append(number)
            running.append(number)
            time.sleep(0.02)
            most.append(len(running))
            running.remove(number)

    # If the inner page_run took a second slot, the other page would get none.
    with queue.page_run(), queue.page_run(), _another_page_runs():
        visitors = []
        for number in range(5):
            visitors.append(_started(lambda number=number: visit(number)))
            _until(lambda number=number: len(queue._pages._line) > number)
        assert not order
    for visitor in visitors:
        visitor.join(10)
    assert order == [0, 1, 2, 3, 4] and max(most) == 2 and queue._pages._free == 2


def test_waiting_page_shows_message(monkeypatch):
    monkeypatch.setattr(queue, "_pages", queue._Pages(1))
    monkeypatch.setattr(queue, "PATIENCE", 0)
    news, done = Mock(), []

    def visit(place):
        with queue.page_run(place):
            done.append(place)

    with _another_page_runs():
        visitors = [_started(lambda place=place: visit(place)) for place in (news, None)]
        _until(lambda: news.empty.return_value.text.called)
        assert not done
    for visitor in visitors:
        visitor.join(10)
    assert len(done) == 2 and news.empty.return_value.text.call_args.args == (queue.WAITING,)
    assert news.empty.return_value.empty.called


def test_page_frees_its_slot_during_costly_work(monkeypatch):
    monkeypatch.setattr(queue, "_pages", queue._Pages(1))
    with queue.page_run():
        with queue.costly_slot(), _another_page_runs():  # would hang otherwise
            assert queue._pages._free == 0
        with queue.page_lent(), _another_page_runs():
            pass
        assert queue._pages._free == 0
    assert queue._pages._free == 1


def test_pages_run_during_costly_work():
    with _another_thread_holds_the_slot(), queue.page_run(), queue.page_run():  # would hang otherwise
        pass


def test_thread_takes_only_one_slot():
    with queue.costly_slot(), queue.costly_slot():
        pass
    assert _is_free()


def test_superseded_work_frees_slot(monkeypatch):
    with pytest.raises(Superseded), queue.costly_slot() as go_on:
        monkeypatch.setattr(queue, "RECORD", SimpleNamespace(get=Mock(side_effect=Superseded)))
        monkeypatch.setattr(queue, "this_session", lambda: "a visitor's")
        go_on()
        pytest.fail("superseded work continued")
    assert _is_free()


def test_superseded_work_stops_waiting(monkeypatch):
    monkeypatch.setattr(queue, "stop_if_superseded", Mock(side_effect=Superseded))
    with _another_thread_holds_the_slot(), pytest.raises(Superseded), queue.costly_slot():
        pytest.fail("superseded work got a slot")
    assert _is_free()


def test_superseded_run_stops_waiting_for_browser(monkeypatch):
    monkeypatch.setattr(queue, "HEAD_START", 600)
    monkeypatch.setattr(queue, "_pages", queue._Pages(1))
    free = []

    def moved_on():
        free.append(queue._pages._free)
        if len(free) == 2:
            raise Superseded

    with pytest.raises(Superseded), queue.page_run():
        monkeypatch.setattr(queue, "stop_if_superseded", moved_on)
        queue.let_browser_draw()
    assert free == [1, 1]  # other pages could run


@pytest.mark.parametrize("fails", [False, True])
def test_costly_work_shows_message_while_waiting(monkeypatch, fails):
    """fails: True if the run is superseded while the message is being removed."""
    messages = []
    empty = Mock(side_effect=Superseded) if fails else lambda: messages.append("gone")
    place = SimpleNamespace(text=messages.append, empty=empty)
    monkeypatch.setattr(queue, "this_page", lambda: SimpleNamespace(news=SimpleNamespace(empty=lambda: place)))
    monkeypatch.setattr(queue, "PATIENCE", 0.0)

    def visit():
        try:
            with queue.costly_slot():
                messages.append("works")
        except Superseded:
            messages.append("superseded")

    visit()
    assert messages == ["works"]
    with _another_thread_holds_the_slot():
        page = _started(visit)
        _until(lambda: len(messages) > 1)
    page.join(10)
    assert messages == ["works", queue.WAITING, *(["superseded"] if fails else ["gone", "works"])]
    assert _is_free()


@pytest.mark.slow
def test_streamlit_can_stop_a_run_that_waits():
    def script():
        import streamlit as st
        from streamlit.runtime.scriptrunner import get_script_run_ctx

        from selfattn.dashboard import queue

        get_script_run_ctx().script_requests.request_stop()
        with queue.costly_slot():
            st.session_state.reached = True

    with _another_thread_holds_the_slot():
        app = AppTest.from_function(script, default_timeout=10).run()
        assert "reached" not in app.session_state


def test_large_forward_passes_share_cores(monkeypatch):
    given = []
    monkeypatch.setattr(torch, "set_num_threads", given.append)
    monkeypatch.setattr(torch, "get_num_threads", lambda: given[-1])
    monkeypatch.setattr(queue, "_CORES", 8)

    def threads(work):
        with queue.threads_for(work):
            return given[-1]

    with queue.page_run():
        assert given == [1], "Outside forward passes, PyTorch has one thread."
        assert threads(queue.SMALL) == 1 and threads(queue.SMALL + 1) == 8
        for others, share in ((1, 4), (2, 2), (9, 1)):  # at least 1, because torch refuses 0
            with ExitStack() as beside:
                for _ in range(others):
                    beside.enter_context(_another_page_runs())
                assert threads(10**9) == share and threads(queue.SMALL) == 1
        assert given[-1] == 1
        with pytest.raises(ZeroDivisionError), queue.threads_for(10**9):
            raise ZeroDivisionError
        assert given[-1] == 1, "The number of threads is restored."
    assert not queue._running


def _is_free():
    free = queue._places.acquire(blocking=False)
    if free:
        queue._places.release()
    return free


def _started(target):
    thread = threading.Thread(target=target)
    thread.start()
    return thread


@contextmanager
def _in_another_thread(context):
    """Keep another thread inside `context()` during the with block."""
    inside, let_go = threading.Event(), threading.Event()

    def hold():
        with context():
            inside.set()
            let_go.wait(20)

    thread = _started(hold)
    assert inside.wait(10)
    try:
        yield
    finally:
        let_go.set()
        thread.join(10)


def _another_thread_holds_the_slot():
    return _in_another_thread(queue.costly_slot)


def _another_page_runs():
    return _in_another_thread(queue.page_run)


def _until(condition):
    deadline = time.time() + 10
    while not condition():
        assert time.time() < deadline
        time.sleep(0.001)
