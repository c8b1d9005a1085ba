"""The batches of a part that isn't finished yet: a job that is killed within a part measures none of them again.

One file a part, appended to: for each batch its key, its length, a checksum and the rows. A batch's key is a digest of what
it was measured on, so that nothing from another scan or from changed rows is ever taken for it. What a kill has cut short,
or damage has changed, fails its checksum, and from there on the file is written anew.
"""

import hashlib
import os
import struct
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from selfattn.scan.files import sync_folder

KEPT_EVERY = 5.0  # seconds: a killed process loses the batch it was at, a machine that fails what is younger than this
HEAD = struct.Struct(">32s32sQ")  # key, sha256 of the rows, their length in bytes


class Journal:
    """The journal of one part of a scan: `with Journal(...) as journal`, and `remove` once the part is written."""

    def __init__(self, path: Path, scan: str, clock: Callable[[], float] = time.monotonic):
        path.parent.mkdir(exist_ok=True)
        self._path, self._scan, self._clock, self._kept = path, scan.encode(), clock, clock()
        self._places: dict[bytes, tuple[int, int]] = {}  # key: (offset, length)
        self._file = open(path, "a+b")  # noqa: SIM115 (a batch after the other is written to it)
        self._file.truncate(self._read())

    def recall(self, key: bytes, measure: Callable[[], pa.Table]) -> pa.Table:
        """The rows under a key, measured now if an earlier run of the same scan hasn't left them."""
        key = hashlib.sha256(self._scan + key).digest()
        if key in self._places:
            offset, length = self._places[key]
            self._file.seek(offset)
            return pa.ipc.open_stream(self._file.read(length)).read_all()
        table = measure()
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        rows = sink.getvalue()
        self._file.write(HEAD.pack(key, hashlib.sha256(rows).digest(), len(rows)))
        self._file.write(rows)
        self._file.flush()
        if self._clock() - self._kept >= KEPT_EVERY:
            os.fsync(self._file.fileno())
            sync_folder(self._path.parent)
            self._kept = self._clock()
        return table

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def remove(self) -> None:
        """The part is there: its journal is no longer needed."""
        self._path.unlink(missing_ok=True)

    def _read(self) -> int:
        """Find the whole batches; returns where the last of them ends."""
        end = 0
        self._file.seek(0)
        while len(head := self._file.read(HEAD.size)) == HEAD.size:
            key, digest, length = HEAD.unpack(head)
            if length > os.fstat(self._file.fileno()).st_size - end:
                break
            if hashlib.sha256(self._file.read(length)).digest() != digest:
                break
            self._places[key] = (end + HEAD.size, length)
            end += HEAD.size + length
        return end
