"""The operator's limits: each has its number in its message; visitors wait in turn; superseded work frees its place."""

import threading
import time
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
import torch
from streamlit.testing.v1 import AppTest

from selfattn import TextError
from selfattn.dashboard import limits
from selfattn.dashboard.cache import OVERHEAD, BoundedCache, held_bytes
from selfattn.dashboard.queue import Turns


class Superseded(Exception):
    """What Streamlit raises in a run that a newer one has replaced, in short."""


def test_messages_name_the_numbers():
    with pytest.raises(TextError, match=r"40,001 characters; this server takes at most 40,000"):
        limits.check_characters("a" * 40_001)
    with pytest.raises(TextError, match=r"5,001 rows; this server takes at most 5,000"):
        limits.check_rows(5_001)
    limits.check_characters("a" * 40_000)
    limits.check_rows(5_000)


def test_devices_are_the_machines_and_the_operators(monkeypatch):
    monkeypatch.delenv("SELFATTN_DEVICES", raising=False)
    assert limits.devices(["cuda", "cpu"]) == ["cuda", "cpu"]
    monkeypatch.setenv("SELFATTN_DEVICES", "cpu, mps")
    assert limits.devices(["cuda", "cpu"]) == ["cpu"]
    monkeypatch.setenv("SELFATTN_DEVICES", "mps")
    with pytest.raises(SystemExit, match="this machine has cuda, cpu only"):
        limits.devices(["cuda", "cpu"])


@pytest.mark.parametrize("places", [1, 2])
def test_fifty_visitors_take_turns_in_the_order_they_came(places):
    turns, running, most, order = Turns(places), 0, 0, []
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
    turns, order, visitors = Turns(1), [], []

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
    turns = Turns(1)
    with pytest.raises(Superseded), turns.turn():
        raise Superseded  # in a progress callback, say
    with _another_thread_holds(turns):
        with pytest.raises(Superseded), turns.turn(still_wanted=_raise_superseded):
            pytest.fail("the place was taken")
        assert turns.waiting == 0
    with turns.turn():  # free again: this would hang otherwise
        pass


def test_a_long_turn_makes_room_and_keeps_no_second_place():
    turns, order = Turns(1, lease=0.2), []
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


def _note_a_turn(turns: Turns, order: list) -> None:
    with turns.turn():
        order.append("in turn")


def test_a_thread_never_waits_for_itself():
    turns = Turns(1)
    with turns.turn(), turns.turn():
        pass
    with _another_thread_holds(turns):
        assert turns.waiting == 0


def test_a_page_that_waits_for_its_turn_says_so(monkeypatch):
    said = []
    place = SimpleNamespace(text=said.append, empty=lambda: said.append("gone"))
    monkeypatch.setattr(limits, "PATIENCE", 0.0)
    monkeypatch.setattr(limits.st, "empty", lambda: place)

    def visit() -> None:
        with limits.page_turn():
            pass

    visit()
    assert said == ["gone"]
    with ExitStack() as held:
        for _ in range(limits.PAGES):
            held.enter_context(_another_thread_holds(limits._pages))
        page = threading.Thread(target=visit)
        page.start()
        _until(lambda: len(said) > 1)
        assert "1 wait for their turn" in said[1]
    page.join(10)
    assert said[-1] == "gone"


def test_a_rerun_calls_off_the_one_that_waits():
    """Streamlit's own stop reaches a script run that waits for its turn."""

    def script():
        import streamlit as st

        from selfattn.dashboard import limits

        st.session_state.runs = st.session_state.get("runs", 0) + 1
        if st.session_state.runs == 1:
            from streamlit.runtime.scriptrunner import get_script_run_ctx

            get_script_run_ctx().script_requests.request_stop()
        with limits.run_slot():
            st.session_state.reached = True

    with _another_thread_holds(limits._turns), _another_thread_holds(limits._turns):
        started = time.time()
        app = AppTest.from_function(script, default_timeout=20).run()
        assert "reached" not in app.session_state
        assert time.time() - started < 10  # it didn't wait for the places to be let go
        assert limits._turns.waiting == 0


def test_the_cache_stays_within_its_bytes_and_makes_each_result_once():
    cache, made = BoundedCache(10 * (4_000 + OVERHEAD)), []

    def make(key):
        made.append(key)
        time.sleep(0.01)
        return torch.zeros(1_000)

    threads = [threading.Thread(target=cache.get, args=(0, lambda: make(0))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [0]
    for key in range(1, 20):
        cache.get(key, lambda key=key: make(key))
    assert cache.bytes == 10 * (4_000 + OVERHEAD)
    cache.get(19, lambda: pytest.fail("it is there already"))
    for key in ("large", "larger"):  # of those beyond the bound one stays, the latest
        assert cache.get(key, lambda: torch.zeros(20_000)).shape == (20_000,)
        assert cache.bytes == 10 * (4_000 + OVERHEAD) + 80_000 + OVERHEAD
    cache.get("larger", lambda: pytest.fail("it is there already"))


def test_a_result_that_could_not_be_made_is_tried_again():
    cache = BoundedCache(10_000)
    with pytest.raises(Superseded):
        cache.get("key", _raise_superseded)
    assert cache.get("key", lambda: 7) == 7


def test_bytes_of_an_encoding_count_each_storage_once(encoder):
    encoding = encoder.encode("The bank of the river.")
    numbers = sum(state.numel() for state in encoding.states) + encoding.static.numel()
    numbers += sum(t.numel() for r in encoding.recordings for t in (r.query, r.key, r.value, r.context))
    assert held_bytes(encoding) == 4 * numbers + OVERHEAD
    assert held_bytes([encoding.static, encoding.static[1:]]) == 4 * encoding.static.numel() + OVERHEAD


def _raise_superseded():
    raise Superseded


class _another_thread_holds:
    """One place is taken by another thread inside the `with`."""

    def __init__(self, turns: Turns):
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


def test_scans_are_opened_inside_the_operators_folder_only(monkeypatch, tmp_path):
    outside = tmp_path / "outside"
    shelf = tmp_path / "shelf"
    for folder in (outside, shelf / "mine"):
        folder.mkdir(parents=True)
    (shelf / "way-out").symlink_to(outside)
    assert limits.scan_folder(str(outside)) == outside  # no limit is set
    monkeypatch.setenv("SELFATTN_SCAN_DIR", str(shelf))
    assert limits.scan_folder("mine") == limits.scan_folder(str(shelf / "mine")) == shelf / "mine"
    assert limits.scan_folder(".") == shelf
    for name in (str(outside), "../outside", "way-out", "mine/../../outside", "/etc"):
        with pytest.raises(TextError, match="SELFATTN_SCAN_DIR"):
            limits.scan_folder(name)


@pytest.mark.parametrize("name", ["a\0b", "a" * 1001])
def test_a_scan_folders_name_that_no_disk_takes(name):
    with pytest.raises(TextError, match="1,000 characters"):
        limits.scan_folder(name)
