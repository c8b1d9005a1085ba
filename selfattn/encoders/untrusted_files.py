"""Read files that nobody has checked: only plain files, up to a maximum size."""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from selfattn.encoders.errors import LoadError

MOST_BYTES = 16 * 2**20  # the largest JSON file that is read


def open_plain(path: Path) -> BinaryIO:
    """Open a plain file. Raises LoadError for a pipe or a device."""
    with reading(path):
        file = open(path, "rb", opener=_without_waiting)  # noqa: SIM115 (the caller closes it)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise LoadError(f"{_shown(path)} is a pipe, a socket or a device. Replace it with a plain file.")
    return file


def read_plain(path: Path, most_bytes: int) -> bytes:
    """Return the content of a regular file of at most `most_bytes`. Raises LoadError for any other file, or if reading fails."""
    with open_plain(path) as file, reading(path):
        size = os.fstat(file.fileno()).st_size
        data = file.read(most_bytes + 1) if size <= most_bytes else b""
    if size > most_bytes or len(data) > most_bytes:
        raise LoadError(
            f"{_shown(path)} is too large: {max(size, len(data)):,} bytes, expected at most {most_bytes:,}."
        )
    return data


def read_json(path: Path, otherwise: dict | None = None, of: type = dict) -> Any:
    """Return the JSON in a file, or `otherwise` if the file doesn't exist.

    Raises LoadError if the file can't be read, or doesn't contain a JSON value of type `of`.
    """
    if otherwise is not None and not path.exists():
        return otherwise
    try:
        return parse_object(read_plain(path, MOST_BYTES), of)
    except (ValueError, RecursionError) as error:
        raise LoadError(f"{_shown(path)} can't be read as JSON: {str(error)[:200]}. Save the model again.") from None


def parse_object(data: bytes, of: type = dict) -> Any:
    """Return the JSON in these bytes. Raises ValueError or RecursionError."""
    value = json.loads(data.decode("utf-8"), object_pairs_hook=each_key_once)
    if not isinstance(value, of):
        raise ValueError(f"expected one JSON {'object' if of is dict else 'list'}, got {type(value).__name__}")
    return value


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn the system's errors about a file into a LoadError."""
    try:
        yield
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, in some versions of Python
        reason = getattr(error, "strerror", None) or str(error)
        raise LoadError(
            f"{_shown(path)} can't be read: {reason[:200]}. Check the path, its links and permissions."
        ) from None


def _without_waiting(path: str, flags: int) -> int:
    """Open a file. If the file is a named pipe, don't wait for a process that writes to the pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def each_key_once(pairs: list[tuple[str, object]]) -> dict:
    """Return a JSON object as a dict. Raises ValueError for a repeated key."""
    held: dict[str, object] = {}
    for key, value in pairs:
        if key in held:
            raise ValueError(f"the key {key[:80]!r} occurs twice")
        held[key] = value
    return held


def _shown(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
