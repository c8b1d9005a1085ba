"""The operator's limits, each an environment variable, in this one place. Beyond a limit a message names the number."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from selfattn.encoder import TextError


def _number(name: str, default: int) -> int:
    value = os.environ.get(name, "")
    if not value:
        return default
    if not value.isdecimal() or int(value) < 1:
        raise SystemExit(f"{name} must be a whole number of at least 1, got {value!r}.")
    return int(value)


CHARACTERS = _number("SELFATTN_MAX_CHARACTERS", 40_000)  # a text's length
ROWS = _number("SELFATTN_MAX_ROWS", 5_000)  # an upload's rows
MODELS = _number("SELFATTN_MAX_MODELS", 2)  # encoders kept in memory; the least recently used goes first
CACHED_TEXTS = _number("SELFATTN_CACHED_TEXTS", 64)  # encodings kept
CACHED_BYTES = _number("SELFATTN_CACHED_MEGABYTES", 64) * 2**20  # for each cache of results
RUNS = _number("SELFATTN_MAX_RUNS", 2)  # passes through an encoder at the same time

_slots = threading.BoundedSemaphore(RUNS)


def check_characters(text: str) -> None:
    """Raise TextError for a text beyond the operator's limit."""
    if len(text) > CHARACTERS:
        raise TextError(
            f"This text has {len(text):,} characters; this server takes at most {CHARACTERS:,}. Shorten it."
        )


@contextmanager
def run_slot() -> Iterator[None]:
    """Wait for one of the places to run an encoder, so that many visitors take turns instead of thrashing."""
    with _slots:
        yield
