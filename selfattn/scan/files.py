"""Files that are there whole or not at all, whenever the process is killed or the machine fails."""

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

UNFINISHED = r"\.unfinished-[0-9a-f]+"  # ends the name of what is being written
SHORT = 16  # hexadecimal digits of a digest that tell damage from what was written


def short_digest(stream: BinaryIO) -> str:
    """The first digits of a file's sha256."""
    return hashlib.file_digest(stream, "sha256").hexdigest()[:SHORT]


@contextmanager
def whole(path: Path, stamped: bool = False) -> Iterator[BinaryIO]:
    """Written beside its place, flushed to the disk, then renamed. stamped: its digest becomes a part of its name.

    Beside it is a name that nothing had, and renaming replaces a link or a pipe: neither is ever written through.
    """
    beside = path.with_name(f"{path.name}.unfinished-{secrets.token_hex(8)}")
    with open(beside, "x+b") as stream:
        yield stream
        stream.flush()
        os.fsync(stream.fileno())
        if stamped:
            stream.seek(0)
            path = path.with_stem(f"{path.stem}-{short_digest(stream)}")
    os.replace(beside, path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder survive a failure of the machine too."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
