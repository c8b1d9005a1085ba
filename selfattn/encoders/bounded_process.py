"""A process of its own for what a stranger's file or text may do: it has bounds, it is ended, and the rest goes on.

On Linux a helper program (`python -m selfattn.encoders.bounded_process`) imports once what the processes need, and forks for
each of them; elsewhere the program is begun for each. What goes through is JSON: nothing that comes out of a process is run.
"""

import contextlib
import functools
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from selfattn.encoders.errors import LoadError, TextError, brief

ROOT = Path(__file__).parents[2]  # where this package is imported from
FORKS = sys.platform == "linux"  # where a fork is safe: macOS' own libraries don't stand it
MOST_BYTES = 64 * 2**20  # of an answer
BEGIN = 120.0  # seconds for the program to begin, its imports included, on a busy machine
LATE = 2.0  # seconds after the system's alarm that a process is ended from outside: it may have no alarm, or sleep
ENVIRONMENT = {  # of the program: nothing is fetched, and it has one thread, because a fork takes only the one that forks
    "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1",
    "CUDA_VISIBLE_DEVICES": "",
}  # fmt: skip
ERRORS: dict[str, Callable[..., Exception]] = {"LoadError": LoadError, "TextError": TextError, "ValueError": ValueError}


class Exceeded(RuntimeError):
    """A process ended, or was ended, before it answered; the message says why, as a part of a sentence."""


class BoundedProcess:
    """Functions called by name ("module:function") in a process of its own, one after the other.

    It begins with the first call, begins anew where it has ended, and ends with this object. first: a call that each new
    process gets before any other, with its own seconds. imports: modules that the helper has when it forks; without any
    there is no helper, and the program is begun for this process.
    """

    def __init__(self, *imports: str, first: tuple | None = None):
        self._imports, self._first = imports, first
        self._lock = threading.Lock()
        self._peer: Connection | None = None
        self._answered = True  # False while an answer is on its way, and after a call that was interrupted
        self._close: Callable[[], Any] = bool

    def call(self, function: str, *arguments: Any, seconds: float, report: Callable[[str], None] | None = None) -> Any:
        """What the function returns, within so many seconds by the clock. report: given to it, to be called with words.

        Arguments and results are JSON; a result of bytes comes as bytes. Raises what the function raises (LoadError,
        TextError, ValueError; any other as a RuntimeError of its name) and Exceeded. Calls of several threads wait for one
        another; after one that was ended by its bounds the next has a new process.
        """
        with self._lock:
            try:
                # Between two calls there is nothing to read but its end.
                if self._peer is None or not self._answered or self._peer.poll():
                    self._begin()
                return self._ask(function, arguments, seconds, report)
            except (OSError, EOFError, json.JSONDecodeError) as error:
                self.end()
                late = isinstance(error, TimeoutError)
                raise Exceeded(
                    f"it took more than {seconds:g} s" if late else "it took more memory than it may, or broke down"
                ) from None

    def end(self) -> None:
        """End the process, if it runs."""
        self._close()
        self._peer, self._close = None, bool

    def _ask(self, function: str, arguments: tuple, seconds: float, report: Any = None) -> Any:
        """The answer. Raises what the function raises, and OSError, EOFError or JSONDecodeError where the process has ended."""
        assert self._peer is not None
        begun, self._answered = time.monotonic(), False
        self._peer.send_bytes(json.dumps([function, arguments, seconds, report is not None]).encode())
        with contextlib.suppress(EOFError):
            while self._peer.poll(max(0.0, begun + seconds + LATE - time.monotonic())):
                what, *words = json.loads(self._peer.recv_bytes(MOST_BYTES))
                if what == "stage":
                    report(*words)
                    continue
                answer = self._peer.recv_bytes(MOST_BYTES) if what == "bytes" else words[-1]
                self._answered = True
                if what == "raised":
                    raise ERRORS.get(words[0], type(words[0], (RuntimeError,), {}))(*words[1:])
                return answer
        raise TimeoutError if time.monotonic() - begun >= seconds else EOFError

    def _begin(self) -> None:
        self.end()
        self._peer, theirs = Pipe()
        closing = contextlib.ExitStack()
        closing.enter_context(self._peer)
        with theirs:
            if FORKS and self._imports:
                socket.send_fds(_helper(self._imports).begin(), [b"f"], [theirs.fileno()])
            else:
                begun = closing.enter_context(_program(theirs))  # at the end it is waited for, once it is killed
                closing.callback(begun.kill)
        self._close = weakref.finalize(self, closing.close)
        try:
            self._ask("builtins:bool", (), BEGIN)
            if self._first:
                self._ask(*self._first)
        except (RuntimeError, ValueError):
            self.end()  # it is of no use to the next call
            raise


def start(*imports: str) -> None:
    """Begin the helper of these imports, which takes it some seconds in its own time."""
    if FORKS:
        _helper(imports).begin()


def limit_memory(size: int) -> None:
    """From here on the system ends this process where it takes so many bytes more than now (Linux alone can)."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        with open("/proc/self/statm") as file:
            most = int(file.read().split()[0]) * resource.getpagesize() + size
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
        Path("/proc/self/oom_score_adj").write_text("1000")  # where all memory is gone, this process goes first


class _Helper:
    """The program that forks. Begun when it is first needed, and anew where it has died."""

    def __init__(self, imports: tuple[str, ...]):
        self._imports, self._lock = imports, threading.Lock()
        self._process: subprocess.Popen | None = None
        self._control: socket.socket | None = None

    def begin(self) -> socket.socket:
        with self._lock:
            if self._process is None or self._control is None or self._process.poll() is not None:
                self._control, theirs = socket.socketpair()
                with theirs:
                    self._process = _program(theirs, *self._imports)
            return self._control


_helper = functools.cache(_Helper)


def _program(connection: Connection | socket.socket, *imports: str) -> subprocess.Popen:
    # Its own session: an interrupt at the keyboard isn't meant for it. What goes wrong in it comes back in words, so what
    # libraries print, panics with their stacks too, is not.
    return subprocess.Popen(
        [sys.executable, "-P", "-m", __spec__.name, *imports], start_new_session=True, stdin=connection,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, **ENVIRONMENT, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])},
    )  # fmt: skip


def _serve(peer: Connection) -> None:
    """In the process: answer each question; the end of the questions is the end of whoever asks."""

    def say(*message: Any) -> None:
        peer.send_bytes(json.dumps(message).encode())

    def alarm(seconds: float) -> None:
        if hasattr(signal, "setitimer"):  # the system's own alarm: it ends the process, whatever that is doing
            signal.setitimer(signal.ITIMER_REAL, seconds)

    while True:
        function, arguments, seconds, reports = json.loads(peer.recv_bytes())
        module, _, name = function.partition(":")
        options = {"report": functools.partial(say, "stage")} if reports else {}
        alarm(seconds)
        try:
            answer = getattr(importlib.import_module(module), name)(*arguments, **options)
            said = ("bytes", None) if isinstance(answer, bytes) else ("answer", answer)
        except MemoryError:
            os._exit(1)
        except LoadError as error:
            said = ("raised", "LoadError", error.kind, str(error))
        except (TextError, ValueError) as error:
            said = ("raised", "TextError" if isinstance(error, TextError) else "ValueError", str(error))
        except BaseException as error:  # a Rust library's panic too
            said = ("raised", type(error).__name__, brief(error).removeprefix(f"{type(error).__name__}: "))
        alarm(0)
        say(*said)
        if said[0] == "bytes":
            peer.send_bytes(answer)


def _main(imports: list[str]) -> None:
    if not imports:
        return _serve(Connection(0))
    for module in imports:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()  # what the processes share stays shared
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    control = socket.socket(fileno=0)
    while fds := socket.recv_fds(control, 1, 1)[1]:
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            with contextlib.suppress(OSError, EOFError):  # whoever asked may be gone
                _serve(Connection(fds[0]))
            os._exit(0)
        os.close(fds[0])


if __name__ == "__main__":
    with contextlib.suppress(EOFError):
        _main(sys.argv[1:])
