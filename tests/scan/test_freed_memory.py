"""What was freed goes back to the system."""

import sys

import psutil
import pytest
import torch

from selfattn.scan import freed_memory


@pytest.mark.skipif(sys.platform != "linux", reason="malloc_trim is glibc's")
@pytest.mark.slow
def test_what_many_sizes_have_left_behind_is_given_back():
    held = [torch.ones(1000 + 37 * (i * i % 4999)) for i in range(3000)]  # kept one in fifty: holes, and no end to cut
    kept = held[::50]
    size = sum(tensor.nbytes for tensor in held)
    del held
    before = psutil.Process().memory_info().rss
    freed_memory.give_back()
    assert before - psutil.Process().memory_info().rss > size / 2
    assert len(kept) == 60


def test_of_many_callers_one_gives_back(monkeypatch):
    calls = []
    monkeypatch.setattr(freed_memory, "give_back", lambda: calls.append(1))
    monkeypatch.setattr(freed_memory, "_last", 0.0)
    for _ in range(50):
        freed_memory.give_back_sometimes()
    assert calls == [1]
