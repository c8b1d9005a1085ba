"""Files that are there whole or not at all, whenever the process is killed or the machine fails."""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

UNFINISHED = re.compile(r"\.unfinished-\d+")  # ends the name of what is being written, by which process
SHORT = 16  # hexadecimal digits of a digest that tell damage from what was written


def short_digest(stream: BinaryIO) -> str:
    """The first digits of a file's sha256."""
    return hashlib.file_digest(stream, "sha256").hexdigest()[:SHORT]


def finished_name(name: str) -> str:
    """The name that a file being written will get; any other name as it is."""
    end = UNFINISHED.search(name)
    return name[: end.start()] if end and end.end() == len(name) else name


@contextmanager
def whole(path: Path, stamped: bool = False) -> Iterator[BinaryIO]:
    """Written beside its place, flushed to the disk, then renamed. stamped: its digest becomes a part of its name."""
    beside = path.with_name(f"{path.name}.unfinished-{os.getpid()}")
    with open(beside, "w+b") as stream:
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
