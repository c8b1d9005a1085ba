"""The queue: visitors wait in turn; superseded work frees its place."""

import threading
import time
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
import torch
from streamlit.testing.v1 import AppTest

from selfattn.dashboard import queue
from selfattn.dashboard.queue import FairQueue, Queue
from selfattn.settings import Settings


class Superseded(Exception):
    """What Streamlit raises in a run that a newer one has replaced, in short."""


@pytest.mark.parametrize("places", [1, 2])
@pytest.mark.slow
def test_fifty_visitors_take_turns_in_the_order_they_came(places):
    turns, running, most, order = Queue(places), 0, 0, []
    lock = threading.Lock()

    def visit(number: int) -> None:
        nonlocal running, most
        with turns.turn():
            with lock:
                running += 1
                most = max(most, running)
                order.append(number)
            time.sleep(0.002)
            with lock:
                running -= 1

    visitors = []
    with ExitStack() as held:
        for _ in range(places):
            held.enter_context(_another_thread_holds(turns))
        for number in range(50):
            visitors.append(threading.Thread(target=visit, args=(number,)))
            visitors[-1].start()
            _until(lambda wanted=number + 1: turns.waiting == wanted)
    for visitor in visitors:
        visitor.join(10)
    assert most <= places
    assert turns.waiting == 0
    assert sorted(order) == list(range(50))
    if places == 1:  # of two that run side by side either may note itself first
        assert order == list(range(50))


def test_a_page_that_began_earlier_goes_before_one_that_asked_earlier():
    turns, order, visitors = Queue(1), [], []

    def visit(since: float) -> None:
        with turns.turn(since=since):
            order.append(since)

    with _another_thread_holds(turns):
        for waiting, since in enumerate((3.0, 1.0, 2.0), start=1):
            visitors.append(threading.Thread(target=visit, args=(since,)))
            visitors[-1].start()
            _until(lambda wanted=waiting: turns.waiting == wanted)
    for visitor in visitors:
        visitor.join(10)
    assert order == [1.0, 2.0, 3.0]


def test_superseded_work_frees_its_place_whether_it_ran_or_waited():
    turns = Queue(1)
    with pytest.raises(Superseded), turns.turn():
        raise Superseded  # in a progress callback, say
    with _another_thread_holds(turns):
        with pytest.raises(Superseded), turns.turn(still_wanted=_raise_superseded):
            pytest.fail("the place was taken")
        assert turns.waiting == 0
    with turns.turn():  # free again: this would hang otherwise
        pass


def test_a_long_turn_makes_room_and_keeps_no_second_place():
    turns, order = Queue(1, lease=0.2), []
    with turns.turn():
        other = threading.Thread(target=lambda: _note_a_turn(turns, order))
        other.start()
        other.join(10)  # would wait for ever without the lease
        assert order == ["in turn"]
    with turns.turn():  # the place that the first gave up was not given back twice
        late = threading.Thread(target=lambda: _note_a_turn(turns, order))
        late.start()
        _until(lambda: turns.waiting == 1)
    late.join(10)
    assert order == ["in turn", "in turn"]


def _note_a_turn(turns: Queue, order: list) -> None:
    with turns.turn():
        order.append("in turn")


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
        page = threading.Thread(target=visit)
        page.start()
        _until(lambda: said)
        assert "1 wait for their turn" in said[0]
    page.join(10)
    assert said[-1] == "gone"


@pytest.mark.slow
def test_a_rerun_calls_off_the_one_that_waits():
    """Streamlit's own stop reaches a script run that waits for its turn."""

    def script():
        import streamlit as st

        from selfattn.dashboard import queue

        st.session_state.runs = st.session_state.get("runs", 0) + 1
        if st.session_state.runs == 1:
            from streamlit.runtime.scriptrunner import get_script_run_ctx

            get_script_run_ctx().script_requests.request_stop()
        with queue.run_slot():
            st.session_state.reached = True

    with _another_thread_holds(queue._runs), _another_thread_holds(queue._runs):
        started = time.time()
        app = AppTest.from_function(script, default_timeout=20).run()
        assert "reached" not in app.session_state
        assert time.time() - started < 10  # it didn't wait for the places to be let go
        assert queue._runs.waiting == 0


def test_cheap_work_passes_while_costly_work_waits_and_works(monkeypatch):
    """One page place in all: whoever waits for costly work, or does it, leaves it to others."""
    monkeypatch.setattr(queue, "_pages", Queue(1))
    monkeypatch.setattr(queue, "_costly", FairQueue(1))
    working, let_go, done = threading.Event(), threading.Event(), []

    def costly(name: str) -> None:
        with queue._pages.turn():
            with queue.costly_slot():
                working.set()
                let_go.wait(20)
            done.append((name, queue._pages._has_turn()))

    visitors = [threading.Thread(target=costly, args=(name,)) for name in "ab"]
    for visitor in visitors:
        visitor.start()
    assert working.wait(10)
    _until(lambda: queue._costly.waiting == 1)
    with queue._pages.turn(), queue.run_slot():  # would hang otherwise
        let_go.set()
        _until(lambda: queue._pages.waiting == 2)  # they come back for their places, and wait for them
        assert not done
    for visitor in visitors:
        visitor.join(10)
    assert sorted(done) == [("a", True), ("b", True)]
    assert not queue._pages._holding and not queue._costly._holding


def test_costly_work_that_ends_early_leaves_no_place_taken(monkeypatch):
    monkeypatch.setattr(queue, "_pages", Queue(1))
    monkeypatch.setattr(queue, "_costly", FairQueue(1))
    with pytest.raises(Superseded), queue._pages.turn(), queue.costly_slot():
        raise Superseded
    assert not queue._pages._holding and not queue._costly._holding


def test_who_has_used_less_goes_first_whenever_he_came():
    lane, order, visitors = FairQueue(1), [], []
    lane.count("asks again and again", 60.0)
    lane.count("asked once", 5.0)

    def visit(who: str) -> None:
        with lane.share(who):
            order.append(who)

    with _another_thread_holds(lane):
        for waiting, who in enumerate(("asks again and again", "asked once", "new"), start=1):
            visitors.append(threading.Thread(target=visit, args=(who,)))
            visitors[-1].start()
            _until(lambda wanted=waiting: lane.waiting == wanted)
    for visitor in visitors:
        visitor.join(10)
    assert order == ["new", "asked once", "asks again and again"]


def test_long_work_gives_way_at_its_sign_of_progress_to_who_has_used_less():
    lane, order = FairQueue(1), []

    def visit(who: str) -> None:
        with lane.share(who):
            order.append(who)

    def come(who: str) -> threading.Thread:
        visitor = threading.Thread(target=visit, args=(who,))
        visitor.start()
        return visitor

    lane.count("longer", 100.0)
    with lane.share("long") as give_way:
        visitors = [come("longer"), come("new")]
        _until(lambda: lane.waiting == 2)
        lane.count("long", 0.5 * queue.AHEAD)
        give_way()
        assert order == []  # nobody is ahead by much yet
        lane.count("long", 50.0)
        give_way()
        order.append("long")
    for visitor in visitors:
        visitor.join(10)
    assert order == ["new", "long", "longer"]
    assert not lane._holding and lane.waiting == 0


def test_what_was_used_is_forgotten(monkeypatch):
    lane, now = FairQueue(1), 1000.0
    monkeypatch.setattr(queue.time, "monotonic", lambda: now)
    lane.count("long ago", 8.0)
    assert lane.used("long ago") == 8.0
    now += queue.HALF_LIFE
    assert lane.used("long ago") == pytest.approx(4.0)
    now += 60 * queue.HALF_LIFE
    lane.count("now", 1.0)
    assert set(lane._used) == {"now"}


def test_costly_work_ends_at_its_sign_of_progress_when_its_visitor_has_left(monkeypatch):
    lane = FairQueue(1)
    with pytest.raises(Superseded), lane.share("left", _raise_superseded) as give_way:
        give_way()
        pytest.fail("it went on")
    assert not lane._holding


def _raise_superseded():
    raise Superseded


class _another_thread_holds:
    """One place is taken by another thread inside the `with`."""

    def __init__(self, turns: Queue):
        self._turns, self._held, self._let_go = turns, threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._hold)

    def _hold(self) -> None:
        with self._turns.turn():
            self._held.set()
            self._let_go.wait(20)

    def __enter__(self) -> None:
        self._thread.start()
        assert self._held.wait(10)

    def __exit__(self, *_) -> None:
        self._let_go.set()
        self._thread.join(10)


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
    monkeypatch.setattr(queue, "_costly", FairQueue(1))

    def threads(work: int) -> int:
        with queue.threads_for(work):
            return given[-1]

    with queue.page_turn(None):
        assert given == [1], "all that surrounds the passes"
        assert threads(queue.SMALL) == 1 and threads(queue.SMALL + 1) == 8
        for beside in (queue._pages, queue._costly):
            with _another_thread_holds(beside):
                assert Settings().max_runs == 2 and threads(10**9) == 4 and threads(queue.SMALL) == 1
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


@pytest.mark.parametrize("where", ["_pages", "_costly"])
def test_nobody_is_alone_beside_a_page_or_costly_work(monkeypatch, where):
    monkeypatch.setattr(queue, "_pages", Queue(2))
    monkeypatch.setattr(queue, "_costly", FairQueue(1))
    with queue.page_turn(None):
        assert queue.alone(), "one's own page is no other's"
        with _another_thread_holds(getattr(queue, where)):
            assert not queue.alone()
        assert queue.alone()
