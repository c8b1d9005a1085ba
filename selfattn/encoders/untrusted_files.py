"""Reading a file that somebody else made: only a plain file, only so many bytes, only so much JSON; else a LoadError."""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from selfattn.encoders.errors import LoadError

MOST_BYTES = 16 * 2**20  # of a file of JSON
MOST_VALUES = 4_000_000  # in one JSON file: the longest vocabularies with their merges have half of that
MOST_DEPTH = 32


def open_plain(path: Path) -> BinaryIO:
    """Open a plain file for reading; raises LoadError for a pipe, a device, a loop of links, or what can't be read."""
    with reading(path):
        file = open(path, "rb", opener=_without_waiting)  # noqa: SIM115 (the caller closes it)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise LoadError(
            "file", f"{_shown(path)} is a pipe, a socket or a device. Expected a plain file: copy it there."
        )
    return file


def read_plain(path: Path, most_bytes: int) -> bytes:
    """The bytes of a plain file of at most so many; raises LoadError."""
    with open_plain(path) as file, reading(path):
        size = os.fstat(file.fileno()).st_size
        data = file.read(most_bytes + 1) if size <= most_bytes else b""
    if size > most_bytes or len(data) > most_bytes:
        raise LoadError(
            "file",
            f"{_shown(path)} has {max(size, len(data)):,} bytes; at most {most_bytes:,} are read. Check the file.",
        )
    return data


def read_json(path: Path, kind: str, otherwise: dict | None = None, of: type = dict) -> Any:
    """The JSON object (or list) in a file, no key in it twice; raises LoadError of this kind. otherwise: where there is none."""
    if otherwise is not None and not path.exists():
        return otherwise
    try:
        return parse_object(read_plain(path, MOST_BYTES), of)
    except (ValueError, RecursionError) as error:
        raise LoadError(
            kind, f"{_shown(path)} can't be read as JSON: {str(error)[:200]}. Save the model again."
        ) from None


def parse_object(data: bytes, of: type = dict) -> Any:
    """The one JSON object (or list) that these bytes hold, of at most MOST_VALUES values; raises ValueError or RecursionError."""
    if sum(data.count(mark) for mark in (b",", b"[", b"{")) > MOST_VALUES:
        raise ValueError(f"it holds more than {MOST_VALUES:,} values")
    value = json.loads(data.decode("utf-8"), object_pairs_hook=each_key_once)
    if not isinstance(value, of):
        raise ValueError(f"expected one JSON {'object' if of is dict else 'list'}, got {type(value).__name__}")
    return value


def walk(value: object, key: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    """Every value in a JSON value, with the key that it (or the list it is in) has; raises ValueError beyond MOST_DEPTH."""
    yield key, value
    if not isinstance(value, dict | list):
        return
    if depth >= MOST_DEPTH:
        raise ValueError(f"it is nested deeper than {MOST_DEPTH}")
    for inner, each in value.items() if isinstance(value, dict) else ((key, each) for each in value):
        yield from walk(each, inner, depth + 1)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise LoadError where the system won't give what is asked inside of a file or folder."""
    try:
        yield
    except (OSError, RuntimeError) as error:  # the latter for a loop of links, by the version of Python
        reason = getattr(error, "strerror", None) or str(error)
        raise LoadError(
            "file", f"{_shown(path)} can't be read: {reason[:200]}. Check the path, its links and permissions."
        ) from None


def _without_waiting(path: str, flags: int) -> int:
    """Opening a pipe would wait for somebody to write into it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def each_key_once(pairs: list[tuple[str, object]]) -> dict:
    """A JSON object's values; ValueError for a key that stands twice: one reader takes the first value, another the last."""
    held: dict[str, object] = {}
    for key, value in pairs:
        if key in held:
            raise ValueError(f"the key {key[:80]!r} stands twice")
        held[key] = value
    return held


def _shown(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
