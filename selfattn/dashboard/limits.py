"""The operator's limits, each an environment variable, in this one place. Beyond a limit a message names the number.

`python -m selfattn.dashboard.limits` prints them as the table that stands in the README.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from selfattn.dashboard.queue import Turns
from selfattn.encoders.errors import TextError


@dataclass(frozen=True)
class Limit:
    """One limit: the variable that sets it, what holds without it, and what it bounds."""

    variable: str
    default: int | str
    meaning: str


LIMITS = (
    Limit("SELFATTN_MAX_CHARACTERS", 40_000, "characters of one text"),
    Limit("SELFATTN_MAX_ROWS", 5_000, "rows of an uploaded table"),
    Limit("SELFATTN_MAX_MODELS", 2, "encoders kept in memory; the least recently used goes first"),
    Limit("SELFATTN_CACHED_TEXTS", 64, "results kept in each cache that counts them"),
    Limit(
        "SELFATTN_CACHED_TEXT_MEGABYTES",
        256,
        "megabytes of texts as the encoder left them; the oldest go first, one always stays",
    ),
    Limit("SELFATTN_CACHED_MEGABYTES", 32, "megabytes of each cache of results; the least recently used go first"),
    Limit("SELFATTN_MAX_RUNS", 2, "passes through an encoder at the same time; the others wait in turn"),
    Limit("SELFATTN_MAX_PAGES", 4, "pages that are put together at the same time; the others wait in turn"),
    Limit("SELFATTN_DEVICES", "all", "devices to offer, separated by commas: cpu, cuda, mps"),
    Limit("SELFATTN_MODELS", "any", "encoders to offer, separated by commas; no other can be opened"),
    Limit("SELFATTN_MODEL_DIR", "any", "the one folder that local encoders may come from"),
    Limit("SELFATTN_SCAN_DIR", "any", "the one folder that finished scans may be opened from"),
    Limit("SELFATTN_OFFLINE", "0", "1: never ask the Hub"),
)


def table() -> str:
    """The limits as a Markdown table."""
    rows = [f"| `{limit.variable}` | {_shown(limit.default)} | {limit.meaning} |" for limit in LIMITS]
    return "\n".join(["| Variable | Default | What it bounds |", "|---|---|---|", *rows])


def _shown(default: int | str) -> str:
    return f"{default:,}" if isinstance(default, int) else default


def _number(variable: str) -> int:
    default = next(limit.default for limit in LIMITS if limit.variable == variable)
    value = os.environ.get(variable, "")
    if not value:
        return default
    if not value.isdecimal() or int(value) < 1:
        raise SystemExit(f"{variable} must be a whole number of at least 1, got {value!r}.")
    return int(value)


CHARACTERS = _number("SELFATTN_MAX_CHARACTERS")
ROWS = _number("SELFATTN_MAX_ROWS")
MODELS = _number("SELFATTN_MAX_MODELS")
CACHED_TEXTS = _number("SELFATTN_CACHED_TEXTS")
CACHED_TEXT_BYTES = _number("SELFATTN_CACHED_TEXT_MEGABYTES") * 2**20
CACHED_BYTES = _number("SELFATTN_CACHED_MEGABYTES") * 2**20
RUNS = _number("SELFATTN_MAX_RUNS")
PAGES = _number("SELFATTN_MAX_PAGES")

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
    listed = os.environ.get("SELFATTN_DEVICES", "")
    wanted = [name.strip() for name in listed.split(",") if name.strip()]
    offered = [device for device in available if not wanted or device in wanted]
    if not offered:
        raise SystemExit(f"SELFATTN_DEVICES is {listed!r}, and this machine has {', '.join(available)} only.")
    return offered


def scan_folder(name: str) -> Path:
    """The folder of a finished scan, inside the one that the operator allows. Raises TextError for one outside it."""
    root = os.environ.get("SELFATTN_SCAN_DIR")
    if "\0" in name or len(name) > 1000:
        raise TextError("A folder's name has at most 1,000 characters, and none of them is a null character.")
    if not root:
        return Path(name)
    base = Path(root).resolve()
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


if __name__ == "__main__":
    print(table())
