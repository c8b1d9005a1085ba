"""A scan's folder: what it is a scan of, its parts and their rejected rows; nothing in it is trusted unread.

scan.json says what the parts belong to: the encoder with a digest of each of its files, and a digest of each chunk of the
input. A part is made beside its place and renamed, after the rejected rows of the same chunk: one that is there is whole.
Its name has its digest, its metadata the scan, its place and the digest of its rejected rows. All of that is checked before
a scan goes on and whenever it is read.
"""

import hashlib
import json
import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, starmap, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.scan.files import SHORT, UNFINISHED, short_digest, sync_folder, whole
from selfattn.scan.journal import Journal
from selfattn.scan.measure import Reject
from selfattn.scan.tables import Chunk
from selfattn.spreadsheets import csv_text, unescaped

FORMAT = 2
REJECT_COLUMNS = ("row", "file", "line", "sentence", "word", "sense", "reason")
DICTIONARIES = ["sentence", "word", "sense", "top_word"]
MOST_PARTS = 1_000_000  # their names count with six digits
NOTE_BYTES = 2**26  # of scan.json: far above what so many parts take
PART = re.compile(rf"part-(\d{{6}})-([0-9a-f]{{{SHORT}}})\.parquet")
AGAIN = "Delete it, and the same command makes it again."


class ScanError(ValueError):
    """The folder can't be used. The message says why and what to do."""


@dataclass(frozen=True)
class Scan:
    """A scan that was read back and verified. `frame` holds the rows; `heads` a summary that never needs them all."""

    folder: Path
    model: str
    revision: str | None
    n_layers: int
    n_heads: int
    d_model: int
    finished: bool  # False: the job was stopped or is still running; the parts that are there are whole
    n_rows: int  # occurrences
    n_rejected: int
    parts: tuple[Path, ...]  # the Parquet files, in the input's order
    measured: tuple[Head, ...]  # the heads that the lists run over
    words: tuple[str, ...]  # that the texts were searched for; none where the tables had a column word

    def __repr__(self) -> str:
        heads = f"{len(self.measured)} heads{'' if self.finished else ', not finished'}"
        return f"<Scan {self.folder}: {self.n_rows:,} occurrences, {self.n_rejected:,} rejected rows, {heads}>"

    def frame(self, columns: Sequence[str] | None = None, limit: int | None = None) -> pd.DataFrame:
        """The rows (the first `limit`) as a table; the lists are arrays over `measured`, the heads layer by layer."""
        batches, left = [], limit
        for batch in self._batches(columns):
            batches.append(batch if left is None else batch.slice(0, left))
            left = None if left is None else left - len(batches[-1])
            if left == 0:
                break
        return pa.Table.from_batches(batches).to_pandas() if batches else pd.DataFrame()

    def heads(self) -> pd.DataFrame:
        """Means over all rows: layer, head, top_weight, entropy (bits), special_share. Read a batch at a time."""
        names = ["top_weight", "entropy", "special_share"]
        sums = {name: 0.0 for name in names}
        for batch in self._batches(names):
            for name in names:
                values = batch[name].flatten().to_numpy().reshape(batch.num_rows, -1)
                sums[name] = sums[name] + values.sum(axis=0, dtype="float64")
        index = pd.MultiIndex.from_tuples(self.measured, names=["layer", "head"])
        return pd.DataFrame({name: sums[name] / max(1, self.n_rows) for name in names}, index=index).reset_index()

    def rejects(self) -> pd.DataFrame:
        """The rejected rows with their reasons."""
        return pd.read_csv(self.folder / "rejects.csv", dtype=str, keep_default_na=False).map(unescaped)

    def _batches(self, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        for part in self.parts:
            yield from pq.ParquetFile(part).iter_batches(4096, columns=None if columns is None else list(columns))


def read_scan(folder: str | Path) -> Scan:
    """Open what `python -m selfattn.scan` wrote, every part verified. Raises ScanError for a folder that can't be."""
    folder = Path(folder)
    about = _read_note(folder)
    try:
        parts = _read_parts(folder, about)
        rejects, finished = folder / "rejects.csv", len(parts) == _n_parts(about)
        if finished and rejects.exists() and _digest(rejects) != _gathered(folder, parts):
            raise ScanError(f"{rejects} isn't what the job wrote. {AGAIN}")
    except OSError as error:
        raise ScanError(f"{folder} can't be read: {error}.") from None
    every = np.ndindex(about["encoder"]["n_layers"], about["encoder"]["n_heads"])
    return Scan(
        folder=folder,
        model=about["encoder"]["name"],
        **{name: about["encoder"][name] for name in ("revision", "n_layers", "n_heads", "d_model")},
        finished=finished and rejects.exists(),
        n_rows=sum(part.n_rows for part in parts),
        n_rejected=sum(part.n_rejected for part in parts),
        parts=tuple(part.path for part in parts),
        measured=tuple(map(Head.named, about["heads"])) if about.get("heads") else tuple(starmap(Head, every)),
        words=tuple(about.get("words") or ()),
    )


@dataclass(frozen=True)
class ScanFolder:
    """The writing side of a scan's folder. Workers may write different chunks at the same time."""

    path: Path

    def prepare(self, about: dict) -> set[int]:
        """Make the folder, or check that it holds a part of this very scan; which chunks are done. Raises ScanError."""
        note = self.path / "scan.json"
        if note.exists():
            earlier = _read_note(self.path)
            if difference := _difference(earlier, about) or _input_difference(earlier, about):
                raise ScanError(
                    f"{self.path} holds another scan: {difference}. To go on with it, give the same command, encoder and "
                    "input as then; for a new scan choose another --output."
                )
        else:
            with whole(note) as stream:
                stream.write(json.dumps({"sha256": _digest_of(about), **about}, indent=1).encode())
        for name in ("parts", "rejects", "journal"):
            (self.path / name).mkdir(exist_ok=True)
        sync_folder(self.path)
        for left in self.path.rglob(f"*{UNFINISHED}*"):
            left.unlink()
        return {part.index for part in _read_parts(self.path, _read_note(self.path))}

    def scan_of(self, encoder: Encoder) -> str:
        """The scan's digest, for its parts. Raises ScanError where another machine's encoder isn't the scan's."""
        about = _read_note(self.path)
        if difference := _difference(about["encoder"], _describe_encoder(encoder)):
            raise ScanError(f"This worker's encoder isn't the scan's: {difference}. Give all machines the same files.")
        return about["sha256"]

    def is_done(self, chunk: Chunk) -> bool:
        """Whether the chunk's part is there; then it is whole."""
        return any((self.path / "parts").glob(f"part-{chunk.index:06d}-*.parquet"))

    def journal(self, chunk: Chunk, scan: str) -> Journal:
        """What an earlier run has left of the chunk, and where this one keeps it."""
        return Journal(self.path / "journal" / f"part-{chunk.index:06d}", scan)

    def write(
        self, chunk: Chunk, scan: str, schema: pa.Schema, windows: Iterable[tuple[pa.Table, Sequence[Reject]]]
    ) -> None:
        """Keep a chunk's rows and rejected rows as they come. The part gets its name last: only then is the chunk done."""
        # A dictionary of numbers that hardly repeat makes the file larger and takes 30 MB while it is built.
        parquet = {"compression": "zstd", "use_dictionary": DICTIONARIES}
        digest, n_rejected = hashlib.sha256(), 0
        with (
            whole(self.path / "parts" / f"part-{chunk.index:06d}.parquet", stamped=True) as part,
            whole(_rejects_of(self.path, chunk.index)) as rejected,
            pq.ParquetWriter(part, schema, **parquet) as writer,
        ):
            for table, rejects in windows:
                writer.write_table(table)
                data = _csv_bytes(
                    [[*(getattr(r.row, name) for name in REJECT_COLUMNS[:-1]), r.reason] for r in rejects]
                )
                rejected.write(data)
                digest.update(data)
                n_rejected += len(rejects)
            own = {"scan": scan, "index": chunk.index, "n_rejected": n_rejected, "rejects": digest.hexdigest()}
            writer.add_key_value_metadata({"part": json.dumps(own)})

    def finish(self) -> int:
        """Verify all parts and gather their rejected rows in rejects.csv; returns how many."""
        about = _read_note(self.path)
        parts = _read_parts(self.path, about)
        if len(parts) != _n_parts(about):
            raise ScanError(f"{self.path} lacks parts that were there before. The same command makes them again.")
        with whole(self.path / "rejects.csv") as out:
            for data in _gather(self.path, parts):
                out.write(data)
        shutil.rmtree(self.path / "journal")
        return sum(part.n_rejected for part in parts)


def describe(
    encoder: Encoder,
    chunks: Sequence[Chunk],
    part_rows: int,
    vectors: bool,
    words: Sequence[str] = (),
    heads: Sequence[Head] | None = None,
) -> dict:
    """What a scan is a scan of: compared before a stopped one goes on."""
    by_file = groupby(chunks, lambda chunk: chunk.file)
    return {
        "format": FORMAT,
        "encoder": _describe_encoder(encoder),
        "part_rows": part_rows,
        "vectors": vectors,
        "words": list(words) or None,
        "heads": list(map(str, heads or ())) or None,
        "input": [{"file": Path(file).name, "chunks": [chunk.digest for chunk in own]} for file, own in by_file],
    }


def _describe_encoder(encoder: Encoder) -> dict:
    names = ("name", "revision", "dtype", "n_layers", "n_heads", "d_model", "files")
    return {name: getattr(encoder, name) for name in names}


def _difference(earlier: dict, now: dict) -> str | None:
    """The first thing but the input in which two descriptions differ, in words."""
    for name in {**earlier, **now}:
        before, after = earlier.get(name), now.get(name)
        if name in ("encoder", "files") and before != after:
            return _difference(before or {}, after or {})
        if name not in ("input", "sha256") and before != after:
            is_file = "." in name
            return (
                f"the encoder's {name} has changed" if is_file else f"{name} was {before!r:.200} and is {after!r:.200}"
            )
    return None


def _input_difference(earlier: dict, now: dict) -> str | None:
    """The first place where the input differs, in words; everything else is the same."""
    size = now["part_rows"]
    nothing: dict[str, Any] = {"file": None, "chunks": []}
    for before, after in zip_longest(earlier["input"], now["input"], fillvalue=nothing):
        if before["file"] != after["file"]:
            return f"the input has {after['file'] or 'no file'} where it had {before['file'] or 'none'}"
        for number, (old, new) in enumerate(zip_longest(before["chunks"], after["chunks"])):
            if old != new:
                return (
                    f"{after['file']} has changed, first in its rows {number * size + 1:,} to {(number + 1) * size:,}"
                )
    return None


@dataclass(frozen=True)
class _Part:
    index: int
    path: Path
    n_rows: int
    n_rejected: int


def _read_note(folder: Path) -> dict:
    """What scan.json says, as it was written. Raises ScanError."""
    note = folder / "scan.json"
    try:
        status = note.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("scan.json is no plain file")
        if status.st_size > NOTE_BYTES:
            raise ValueError(f"scan.json has {status.st_size:,} bytes; at most {NOTE_BYTES:,} are read")
        about = json.loads(note.read_bytes())
        if not isinstance(about, dict) or not {"format", "n_parts"} & about.keys():
            raise ValueError("scan.json isn't what the job writes")
    except (OSError, ValueError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ScanError(f"{folder} holds no scan by python -m selfattn.scan ({reason}).") from None
    if about.get("format") != FORMAT:
        raise ScanError(f"{folder} holds a scan by another version of selfattn. Scan anew with another --output.")
    if about.get("sha256") != _digest_of({name: about[name] for name in about if name != "sha256"}):
        raise ScanError(
            f"{note} isn't what the job wrote: it was changed or is damaged. Put back what it was, or scan anew with "
            "another --output."
        )
    return about


def _n_parts(about: dict) -> int:
    return sum(len(file["chunks"]) for file in about["input"])


def _read_parts(folder: Path, about: dict) -> list[_Part]:
    """The parts that are there, in order, each verified. Raises ScanError for any that isn't what was written."""
    parts: list[_Part] = []
    for path in sorted((folder / "parts").glob("*")):
        if UNFINISHED in path.name:
            continue
        part = _read_part(folder, path, about["sha256"])
        if parts and parts[-1].index == part.index:
            raise ScanError(f"{path} and {parts[-1].path.name} are for the same rows. Delete one of them.")
        parts.append(part)
    return parts


def _read_part(folder: Path, path: Path, scan: str) -> _Part:
    match = PART.fullmatch(path.name)
    if not match or not path.is_file():
        raise ScanError(f"{path} is none of the scan's parts. Move it away.")
    try:
        with open(path, "rb") as stream:
            intact = short_digest(stream) == match[2]
        if not intact:
            raise ValueError
        footer = pq.read_metadata(path)
        own = json.loads(footer.metadata[b"part"])
    except (ValueError, KeyError, TypeError):
        raise ScanError(f"{path} is damaged: its checksum isn't the one in its name. {AGAIN}") from None
    index = int(match[1])
    if (own["scan"], own["index"]) != (scan, index):
        raise ScanError(f"{path} is from another scan or another place in this one. {AGAIN}")
    rejects = _rejects_of(folder, index)
    if _digest(rejects) != own["rejects"]:
        raise ScanError(f"{rejects} isn't what the job wrote. Delete {path}, and the same command makes both again.")
    return _Part(index, path, n_rows=footer.num_rows, n_rejected=own["n_rejected"])


def _rejects_of(folder: Path, index: int) -> Path:
    return folder / "rejects" / f"part-{index:06d}.csv"


def _gather(folder: Path, parts: Sequence[_Part]) -> Iterator[bytes]:
    """The content of rejects.csv, a part at a time."""
    yield _csv_bytes([], header=True)
    for part in parts:
        yield _rejects_of(folder, part.index).read_bytes()


def _gathered(folder: Path, parts: Sequence[_Part]) -> str:
    digest = hashlib.sha256()
    for data in _gather(folder, parts):
        digest.update(data)
    return digest.hexdigest()


def _digest(path: Path) -> str | None:
    """The sha256 of a plain file; None where there is none."""
    if not path.is_file():
        return None
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _digest_of(about: dict) -> str:
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def _csv_bytes(lines: Sequence[Sequence], header: bool = False) -> bytes:
    frame = pd.DataFrame(lines, columns=list(REJECT_COLUMNS), dtype=object)
    return csv_text(frame, header).encode("utf-8", errors="backslashreplace")
