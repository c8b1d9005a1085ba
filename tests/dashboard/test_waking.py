"""The server's event loop is woken once for what comes while it is busy, and each time for what comes while it sleeps."""

import asyncio
import threading

import pytest

from selfattn.dashboard.streamlit_internals import wake_once

EACH = 200


@pytest.fixture
def woken():
    """A loop in a thread of its own, as the server's; and how often it was woken."""
    loop, times = asyncio.SelectorEventLoop(), []
    write = loop._write_to_self
    loop._write_to_self = lambda: times.append(1) or write()
    wake_once(loop)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield loop, times
    loop.call_soon_threadsafe(loop.stop)
    thread.join(5)
    assert not thread.is_alive()
    loop.close()


def test_what_comes_while_the_loop_is_busy_wakes_it_once_and_is_run_in_order(woken):
    loop, times = woken
    busy, free, done, ran = threading.Event(), threading.Event(), threading.Event(), []
    loop.call_soon_threadsafe(lambda: (busy.set(), free.wait(5)))
    assert busy.wait(5)
    times.clear()
    threads = [
        threading.Thread(
            target=lambda name=name: [loop.call_soon_threadsafe(ran.append, (name, i)) for i in range(EACH)]
        )
        for name in "ab"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(times) <= 1 and not ran
    loop.call_soon_threadsafe(done.set)
    free.set()
    assert done.wait(5)
    for name in "ab":
        assert [number for who, number in ran if who == name] == list(range(EACH))


def test_what_comes_while_the_loop_sleeps_wakes_it_every_time(woken):
    loop, times = woken
    for _ in range(EACH):
        done = threading.Event()
        loop.call_soon_threadsafe(done.set)
        assert done.wait(5), "the loop sleeps on"
    assert times
