"""The queue: visitors wait in turn; superseded work frees its place."""

import threading
import time
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import torch
from streamlit.testing.v1 import AppTest

from selfattn.dashboard import queue
from selfattn.dashboard.queue import Queue
from selfattn.settings import Settings


class Superseded(Exception):
    """What Streamlit raises in a run that a newer one has replaced, in short."""


def test_no_more_than_the_places_at_once_and_the_least_order_first():
    turns, order, visitors = Queue(2), [], []

    def visit(since: float) -> None:
        with turns.turn(order=since):
            order.append((since, turns.held))
            time.sleep(0.02)

    with _another_thread_holds(turns), _another_thread_holds(turns):
        for waiting, since in enumerate((3.0, 1.0, 2.0), start=1):
            visitors.append(_started(visit, since))
            _until(lambda wanted=waiting: turns.waiting == wanted)
        assert turns.held == 2
    for visitor in visitors:
        visitor.join(10)
    assert {since for since, _ in order[:2]} == {1.0, 2.0} and max(held for _, held in order) == 2
    assert turns.held == turns.waiting == 0


def test_superseded_work_frees_its_place_whether_it_ran_or_waited():
    turns = Queue(1)
    with pytest.raises(Superseded), turns.turn():
        raise Superseded  # in a progress callback, say
    with _another_thread_holds(turns):
        with pytest.raises(Superseded), turns.turn(still_wanted=Mock(side_effect=Superseded)):
            pytest.fail("the place was taken")
        assert turns.waiting == 0
    with turns.turn():  # free again: this would hang otherwise
        pass


def test_a_thread_never_waits_for_itself():
    turns = Queue(1)
    with turns.turn(), turns.turn():
        pass
    with _another_thread_holds(turns):
        assert turns.waiting == 0


def test_a_page_that_waits_for_its_turn_says_so(monkeypatch):
    said = []
    place = SimpleNamespace(text=said.append, empty=lambda: said.append("gone"))
    monkeypatch.setattr(queue, "PATIENCE", 0.0)

    def visit() -> None:
        with queue.page_turn(SimpleNamespace(empty=lambda: place)):
            pass

    visit()
    assert said == []  # nothing to say where nobody waits
    with ExitStack() as held:
        for _ in range(Settings.read().max_pages):
            held.enter_context(_another_thread_holds(queue._pages))
        page = _started(visit)
        _until(lambda: said)
        assert "1 wait for their turn" in said[0]
    page.join(10)
    assert said[-1] == "gone"


@pytest.mark.slow
def test_a_rerun_calls_off_the_one_that_waits():
    """Streamlit's own stop reaches a script run that waits for its turn."""

    def script():
        import streamlit as st
        from streamlit.runtime.scriptrunner import get_script_run_ctx

        from selfattn.dashboard import queue

        get_script_run_ctx().script_requests.request_stop()
        with queue.page_turn(st.empty()):
            st.session_state.reached = True

    with ExitStack() as held:
        for _ in range(Settings.read().max_pages):
            held.enter_context(_another_thread_holds(queue._pages))
        app = AppTest.from_function(script, default_timeout=10).run()  # it doesn't wait for the places to be let go
        assert "reached" not in app.session_state
        assert queue._pages.waiting == 0


def test_cheap_work_passes_while_costly_work_waits_and_works(monkeypatch):
    """One page place in all: whoever waits for costly work, or does it, leaves it to others."""
    monkeypatch.setattr(queue, "_pages", Queue(1))
    monkeypatch.setattr(queue, "_costly", Queue(1))
    working, let_go, done = threading.Event(), threading.Event(), []

    def costly(name: str) -> None:
        with queue._pages.turn():
            with queue.costly_slot():
                working.set()
                let_go.wait(20)
            done.append((name, queue._pages._has_turn()))

    visitors = [_started(costly, name) for name in "ab"]
    assert working.wait(10)
    _until(lambda: queue._costly.waiting == 1)
    with queue._pages.turn():  # would hang otherwise
        let_go.set()
        for visitor in visitors:
            visitor.join(10)  # they come back at once, beside whoever has their place
        assert sorted(done) == [("a", True), ("b", True)] and queue._pages.held == 1
    assert queue._pages.held == queue._costly.held == 0


def test_long_work_gives_way_at_its_sign_of_progress_to_what_has_had_less(monkeypatch):
    lane, order = Queue(1), []
    monkeypatch.setattr(queue, "_costly", lane)
    now = time.monotonic()
    monkeypatch.setattr(queue, "time", SimpleNamespace(monotonic=lambda: now))

    def visit(who: str, had: float) -> None:
        with lane.turn(order=had):
            order.append(who)

    with queue.costly_slot() as give_way:
        visitors = [_started(visit, "longer", 100.0), _started(visit, "new", 0.0)]
        _until(lambda: lane.waiting == 2)
        now += 0.5 * queue.AHEAD
        give_way()
        assert order == []  # nobody has had much less yet
        now += 50.0
        give_way()
        order.append("long")
        assert lane._has_turn() and lane.held == 1
    for visitor in visitors:
        visitor.join(10)
    assert order == ["new", "long", "longer"]
    assert lane.held == lane.waiting == 0


@pytest.mark.parametrize("waits", [False, True])
def test_costly_work_ends_at_its_sign_of_progress_when_its_visitor_has_left(monkeypatch, waits):
    lane, pages = Queue(1), Queue(1)
    monkeypatch.setattr(queue, "_costly", lane)
    monkeypatch.setattr(queue, "_pages", pages)
    monkeypatch.setattr(queue, "AHEAD", -1.0)

    def look() -> None:  # whoever looks is superseded; here as soon as another works in the lane
        if not waits or not lane._has_turn():
            raise Superseded

    with ExitStack() as held:
        coming = threading.Thread(target=held.enter_context, args=(_another_thread_holds(lane, order=0.0),))
        with pytest.raises(Superseded), pages.turn(), queue.costly_slot() as give_way:
            if waits:
                coming.start()
                _until(lambda: lane.waiting == 1)
            monkeypatch.setattr(queue, "stop_if_superseded", look)
            give_way()
            pytest.fail("it went on")
        if waits:
            coming.join(10)
    assert pages.held == 0
    _until(lambda: lane.held == lane.waiting == 0)


def _started(target, *args) -> threading.Thread:
    thread = threading.Thread(target=target, args=args)
    thread.start()
    return thread


@contextmanager
def _another_thread_holds(turns: Queue, order: float | None = None):
    """One place is taken by another thread inside the `with`."""
    held, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        with turns.turn(order=order):
            held.set()
            let_go.wait(20)

    thread = _started(hold)
    assert held.wait(10)
    try:
        yield
    finally:
        let_go.set()
        thread.join(10)


def _until(condition) -> None:
    deadline = time.time() + 10
    while not condition():
        assert time.time() < deadline
        time.sleep(0.001)


def test_a_large_pass_has_all_cores_alone_and_its_share_beside_others_and_a_small_one_has_one(monkeypatch):
    given = []
    monkeypatch.setattr(torch, "set_num_threads", given.append)
    monkeypatch.setattr(torch, "get_num_threads", lambda: given[-1])
    monkeypatch.setattr(queue, "_CORES", 8)
    monkeypatch.setattr(queue, "_pages", Queue(4))
    monkeypatch.setattr(queue, "_costly", Queue(1))

    def threads(work: int) -> int:
        with queue.threads_for(work):
            return given[-1]

    with queue.page_turn(None):
        assert given == [1], "all that surrounds the passes"
        assert threads(queue.SMALL) == 1 and threads(queue.SMALL + 1) == 8
        for beside in (queue._pages, queue._costly):
            with _another_thread_holds(beside):
                assert Settings().max_pages == 2 and threads(10**9) == 4 and threads(queue.SMALL) == 1
        with queue.costly_slot():  # the page has left its own place meanwhile
            assert threads(10**9) == 8
            with _another_thread_holds(queue._pages):
                assert threads(10**9) == 4
        assert given[-1] == 1
        with pytest.raises(ZeroDivisionError), queue.threads_for(10**9):
            raise ZeroDivisionError
        assert given[-1] == 1, "given back"
        monkeypatch.setattr(queue, "_CORES", 1)
        with _another_thread_holds(queue._pages):
            assert threads(10**9) == 1  # torch takes no 0
