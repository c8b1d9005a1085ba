"""The operator's limits (selfattn/settings.py) held against what a visitor gives: beyond one, a message names the number."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from selfattn.dashboard.queue import Turns
from selfattn.encoders.errors import TextError
from selfattn.settings import Settings

_settings = Settings.read()
CHARACTERS = _settings.max_characters
ROWS = _settings.max_rows
MODELS = _settings.max_models
CACHED_TEXTS = _settings.cached_texts
CACHED_TEXT_BYTES = _settings.cached_text_megabytes * 2**20
CACHED_BYTES = _settings.cached_megabytes * 2**20
RUNS = _settings.max_runs
PAGES = _settings.max_pages

PATIENCE = 1.0  # seconds between two times that a waiting page says so
LEASE = 3.0  # seconds after which a page that still computes makes room for the next

_turns = Turns(RUNS)
_pages = Turns(PAGES, LEASE)


def check_characters(text: str) -> None:
    """Raise TextError for a text beyond the operator's limit."""
    if len(text) > CHARACTERS:
        raise TextError(
            f"This text has {len(text):,} characters; this server takes at most {CHARACTERS:,}. Shorten it."
        )


def check_rows(rows: int) -> None:
    """Raise TextError for a table beyond the operator's limit."""
    if rows > ROWS:
        raise TextError(
            f"This table has {rows:,} rows; this server takes at most {ROWS:,}. Take a part of it, or run the corpus "
            "job on your own machine (python -m selfattn.scan)."
        )


def devices(available: Sequence[str]) -> list[str]:
    """Those of the machine's devices that the operator offers, best first. Raises SystemExit where that leaves none."""
    wanted = Settings.read().devices
    offered = [device for device in available if not wanted or device in wanted]
    if not offered:
        raise SystemExit(f"SELFATTN_DEVICES is {','.join(wanted)!r}, and this machine has {', '.join(available)} only.")
    return offered


def scan_folder(name: str) -> Path:
    """The folder of a finished scan, inside the one that the operator allows. Raises TextError for one outside it."""
    base = Settings.read().scan_dir
    if "\0" in name or len(name) > 1000:
        raise TextError("A folder's name has at most 1,000 characters, and none of them is a null character.")
    if base is None:
        return Path(name)
    folder = (base / name).resolve()  # an absolute name replaces the base, which the next line refuses
    if not folder.is_relative_to(base):
        raise TextError(
            f"{name!r} is outside this server's folder of scans. Only folders inside it can be opened (SELFATTN_SCAN_DIR)."
        )
    return folder


@contextmanager
def run_slot() -> Iterator[None]:
    """Wait for one of the places to run an encoder, so that many visitors take turns instead of thrashing.

    First come, first served. Who has moved on in the meantime (a changed input, a closed tab) stops waiting: Streamlit's
    own exception for that ends the wait, and the place goes to the next.
    """
    with _turns.turn(still_wanted=_stop_if_superseded, since=_began()):
        yield


@contextmanager
def page_turn() -> Iterator[None]:
    """Wait until fewer pages than the limit are put together, and say so where it takes long.

    Python runs one thread at a time: with many pages at once an encoder's pass, made of many short steps, would have to wait
    for the interpreter before each of them.
    """
    place, said = st.empty(), time.monotonic()

    def look() -> None:
        nonlocal said
        _stop_if_superseded()
        if time.monotonic() - said > PATIENCE:
            said = time.monotonic()
            place.text(f"Many visitors at once: {_pages.waiting:,} wait for their turn ...")

    with _pages.turn(still_wanted=look):
        place.empty()
        yield


def _began() -> float | None:
    """When this run of the page began, where there is one."""
    return st.session_state.get("began") if get_script_run_ctx(suppress_warning=True) is not None else None


def _stop_if_superseded() -> None:
    # Any look at the session's state is a point where Streamlit ends a script run that a newer one has replaced.
    if get_script_run_ctx(suppress_warning=True) is not None:
        st.session_state.get("waiting")
