"""What was freed goes back to the system."""

import subprocess
import sys

import psutil
import pytest
import torch

from selfattn import memory


@pytest.mark.skipif(sys.platform != "linux", reason="malloc_trim is glibc's")
def test_what_many_sizes_have_left_behind_is_given_back():
    held = [torch.ones(1000 + 37 * (i * i % 4999)) for i in range(3000)]  # kept one in fifty: holes, and no end to cut
    kept = held[::50]
    size = sum(tensor.nbytes for tensor in held)
    del held
    before = psutil.Process().memory_info().rss
    memory.give_back()
    assert before - psutil.Process().memory_info().rss > size / 2
    assert len(kept) == 60


THREADS = """
import ctypes, sys, tempfile, threading
import selfattn.memory
if sys.argv[1] == "shared":
    assert selfattn.memory.share_stores(2)
meet = threading.Barrier(9)
def work():
    held = ctypes.create_string_buffer(1000)
    meet.wait()
    meet.wait()
for _ in range(8):
    threading.Thread(target=work).start()
meet.wait()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
with tempfile.NamedTemporaryFile() as file:
    stream = ctypes.c_void_p(libc.fopen(file.name.encode(), b"w"))
    libc.malloc_info(0, stream)
    libc.fclose(stream)
    print(file.read().count(b"<heap nr="))
meet.wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="mallopt is glibc's")
def test_many_threads_share_two_stores():
    def stores(how: str) -> int:
        return int(subprocess.run([sys.executable, "-c", THREADS, how], capture_output=True, check=True).stdout)

    assert stores("shared") <= 2 < stores("not shared")


def test_of_many_callers_one_gives_back(monkeypatch):
    calls = []
    monkeypatch.setattr(memory, "give_back", lambda: calls.append(1))
    monkeypatch.setattr(memory, "_last", 0.0)
    for _ in range(50):
        memory.give_back_sometimes()
    assert calls == [1]
