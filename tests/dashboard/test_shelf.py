"""The shelf of encoders: bounded, the least recently used goes first, each loaded once however many ask."""

import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from selfattn.dashboard.shelf import Shelf


class Thing:
    """Stands in for an encoder; can be watched for being freed."""


def test_the_least_recently_used_goes_first_and_is_freed():
    evicted = []
    shelf = Shelf(2, on_evict=lambda: evicted.append(True))
    watched = weakref.ref(shelf.get("a", Thing))
    shelf.get("b", Thing)
    kept = shelf.get("a", Thing)
    assert watched() is kept and not evicted
    del kept
    shelf.get("c", Thing)  # b goes
    assert evicted == [True]
    assert watched() is not None
    shelf.get("d", Thing)  # a goes
    assert watched() is None


def test_each_is_loaded_once_however_many_ask():
    shelf, loads, gate = Shelf(2), [], threading.Event()

    def load():
        gate.wait(5)
        loads.append(1)
        return Thing()

    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(shelf.get, "a", load) for _ in range(8)]
        gate.set()
        assert len({id(future.result()) for future in asked}) == 1
    assert loads == [1]


def test_a_failed_load_leaves_the_shelf_usable():
    shelf = Shelf(1)
    with pytest.raises(OSError):
        shelf.get("a", lambda: (_ for _ in ()).throw(OSError("gone")))
    assert isinstance(shelf.get("a", Thing), Thing)
