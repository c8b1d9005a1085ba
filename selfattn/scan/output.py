"""A scan's folder: what it is a scan of, its parts and their rejected rows; nothing in it is trusted unread.

scan.json says what the parts belong to: the encoder with a digest of each of its files, and a digest of each chunk of the
input. A part is made beside its place and renamed, after the rejected rows of the same chunk: one that is there is whole.
Its name has its digest, its metadata the scan, its place and the digest of its rejected rows. All of that is checked before
a scan goes on and whenever it is read.
"""

import hashlib
import io
import json
import os
import re
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.untrusted_files import parse_object
from selfattn.scan import description
from selfattn.scan.description import Job, ScanError
from selfattn.scan.measure import Reject, schema
from selfattn.scan.tables import Chunk
from selfattn.tidy_tables import csv_text, unescaped
from selfattn.words import fold

LOCK, REJECTS = "lock", "rejects.csv"
BATCH = 4096  # occurrences that are read back at a time
REJECT_COLUMNS = ("row", "file", "line", "sentence", "word", "sense", "reason")
NUMBERS = {"top_weight", "entropy", "special_share", "vectors", "source_moves"}
DICTIONARIES = ["sentence", "word", "sense", "top_word"]
SHORT = 16  # hexadecimal digits of a digest that tell damage from what was written
PART = re.compile(rf"part-(\d{{6}})-([0-9a-f]{{{SHORT}}})\.parquet")
# What a killed job has left half written. Whatever else stands there is somebody's own and stays.
LEFT = re.compile(r"(scan\.json|rejects\.csv|part-\d{6}\.(parquet|csv))\.unfinished-[0-9a-f]+")
AGAIN = "Delete it, and the same command makes it again."


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
    has_sources: bool = False  # made with --sources

    def __repr__(self) -> str:
        heads = f"{len(self.measured)} heads{'' if self.finished else ', not finished'}"
        return f"<Scan {self.folder}: {self.n_rows:,} occurrences, {self.n_rejected:,} rejected rows, {heads}>"

    @cached_property
    def n_texts(self) -> int:
        """The texts (rows of the input) that the occurrences stand in. Read a batch at a time, in the input's order."""
        last, n = -1, 0
        for batch in self._batches(["row"]):
            rows = np.unique(batch["row"].to_numpy())
            n += len(rows) - int(last in rows[:1])
            last = int(rows[-1])
        return n

    def frame(self, columns: list[str] | None = None, limit: int | None = None) -> pd.DataFrame:
        """The rows (the first `limit`) as a table; the lists are arrays over `measured`, the heads layer by layer."""
        batches: list[pa.RecordBatch] = []
        for batch in self._batches(columns):
            batches.append(batch)
            if limit is not None and sum(map(len, batches)) >= limit:
                break
        return pa.Table.from_batches(batches).slice(0, limit).to_pandas() if batches else pd.DataFrame()

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

    def sources(self) -> pd.DataFrame:
        """Which words, hidden from a word, move it farthest, by count. Read a batch at a time; ScanError without --sources.

        word, source (both case-folded), n (occurrences), share (of all of the word's, 0 to 1; one that stands alone counts among
        these), move (mean of 1 - cosine, 0 to 2), sentence (of the largest move).
        """
        if not self.has_sources:
            raise ScanError(f"{self.folder} was made without --sources. Scan again with it, into a new folder.")
        found, of_word = {}, Counter[str]()
        for batch in self._batches(["sentence", "word", "sources", "source_moves"]):
            lists, moved = batch["sources"], batch["source_moves"]
            nulls = (each.null_count for each in (*batch.columns, lists.flatten()))
            if any(nulls) or not lists.value_lengths().equals(moved.value_lengths()):
                raise ScanError(f"{self.folder} has words without a text or a move, as no scan writes them. Scan anew.")
            for row in batch.to_pylist():
                word = fold(row["word"])
                of_word[word] += 1
                for source, move in zip(map(fold, row["sources"][:1]), row["source_moves"]):
                    n, total, most = found.get((word, source), (0, 0.0, (-1.0, "")))
                    found[word, source] = n + 1, total + move, max(most, (move, row["sentence"]))
        rows = [(*key, n, n / of_word[key[0]], total / n, most[1]) for key, (n, total, most) in found.items()]
        table = pd.DataFrame(rows, columns=["word", "source", "n", "share", "move", "sentence"])
        return table.sort_values(["word", "n", "move"], ascending=[True, False, False], ignore_index=True)

    def rejects(self) -> pd.DataFrame:
        """The rejected rows with their reasons."""
        data = b"".join(_rejected(self.parts))
        return pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False).map(unescaped)

    def _batches(self, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        for part in self.parts:
            try:
                for batch in pq.ParquetFile(part).iter_batches(BATCH, columns=columns):
                    for name in NUMBERS & {*batch.schema.names}:
                        numbers = batch[name].flatten().to_numpy(zero_copy_only=False)
                        if batch[name].null_count or not np.isfinite(numbers).all():
                            raise ValueError("it holds NaN or infinity, as no scan writes them; scan anew")
                    yield batch
            except (OSError, ValueError, pa.ArrowException) as error:
                raise ScanError(f"{part} can't be read: {str(error)[:200]}.") from None


def read_scan(folder: str | Path) -> Scan:
    """Open what `python -m selfattn.scan` wrote, every part verified. Raises ScanError for a folder that can't be."""
    opened = ScanFolder(Path(folder), description.read(Path(folder)))
    try:
        return opened.scan(opened.parts())
    except OSError as error:
        raise ScanError(f"{folder} can't be read: {error}.") from None


@dataclass(frozen=True)
class ScanFolder:
    """A scan's folder, to write and to verify. Workers may write different chunks at the same time."""

    path: Path
    about: dict  # what it is a scan of, as scan.json has it

    @classmethod
    def of_job(cls, job: Job, encoder: Encoder) -> "ScanFolder":
        """The folder of a job that has begun. Raises ScanError where another machine's encoder isn't the scan's."""
        about = description.read(Path(job.output))
        if other := description.difference(about["encoder"], description.describe_encoder(encoder)):
            raise ScanError(f"This worker's encoder isn't the scan's: {other}. Give all machines the same files.")
        return cls(Path(job.output), about)

    def prepare(self) -> set[int]:
        """Make the folder, or check that it holds a part of this very scan; which chunks are done. Raises ScanError."""
        note = self.path / description.NAME
        if note.exists():
            earlier = description.read(self.path)
            other = description.difference(earlier, self.about) or description.input_difference(earlier, self.about)
            if other:
                raise ScanError(
                    f"{self.path} holds another scan: {other}. To go on with it, give the same command, encoder and "
                    "input as then; for a new scan choose another --output."
                )
        else:
            with _whole(note) as stream:
                stream.write(json.dumps(self.about, indent=1).encode())
        for name in ("", "parts", "rejects"):
            (self.path / name).mkdir(exist_ok=True)
            for path in (self.path / name).iterdir():
                if LEFT.fullmatch(path.name):
                    path.unlink()
        _sync_folder(self.path)
        return {part.index for part in self.parts()}

    def is_done(self, chunk: Chunk) -> bool:
        """Whether the chunk's part is there; then it is whole."""
        return any((self.path / "parts").glob(f"part-{chunk.index:06d}-*.parquet"))

    def write(self, chunk: Chunk, table: pa.Table, rejects: Sequence[Reject]) -> None:
        """Keep a chunk's rows and rejected rows. The part gets its name last: only then is the chunk done."""
        data = _csv_bytes([[*(getattr(r.row, name) for name in REJECT_COLUMNS[:-1]), r.reason] for r in rejects])
        with _whole(self.path / "rejects" / f"part-{chunk.index:06d}.csv") as rejected:
            rejected.write(data)
        own = {"scan": self.about["sha256"], "index": chunk.index, "n_rejected": len(rejects)}
        said = json.dumps({**own, "rejects": hashlib.sha256(data).hexdigest()})
        # A dictionary of numbers that hardly repeat makes the file larger and takes 30 MB while it is built.
        parquet = {"compression": "zstd", "use_dictionary": DICTIONARIES}
        with (
            _whole(self.path / "parts" / f"part-{chunk.index:06d}.parquet", stamped=True) as part,
            pq.ParquetWriter(part, table.schema, **parquet) as writer,
        ):
            writer.write_table(table)
            writer.add_key_value_metadata({"part": said})

    def finish(self) -> Scan:
        """Verify all parts and gather their rejected rows in rejects.csv; returns the finished scan."""
        parts = self.parts()
        if len(parts) != description.n_parts(self.about):
            raise ScanError(f"{self.path} lacks parts that were there before. The same command makes them again.")
        with _whole(self.path / REJECTS) as out:
            out.writelines(_rejected([part.path for part in parts]))
        return self.scan(parts)

    def scan(self, parts: Sequence["_Part"]) -> Scan:
        """What these parts, verified, come to."""
        about, encoder = self.about, self.about["encoder"]
        return Scan(
            folder=self.path,
            model=encoder["name"],
            **{name: encoder[name] for name in ("revision", *description.MOST)},
            finished=len(parts) == description.n_parts(about) and (self.path / REJECTS).exists(),
            n_rows=sum(part.n_rows for part in parts),
            n_rejected=sum(part.n_rejected for part in parts),
            parts=tuple(part.path for part in parts),
            measured=description.measured(about),
            words=tuple(about["words"] or ()),
            has_sources="sources" in about,
        )

    def parts(self) -> list["_Part"]:
        """The parts that are there, in order, each verified. Raises ScanError for any that isn't what was written."""
        about, parts = self.about, list[_Part]()
        sizes = {name: about["encoder"][name] for name in description.MOST}
        n_measured = len(description.measured(about))
        columns = schema(**sizes, vectors=about["vectors"], n_measured=n_measured, sources="sources" in about)
        for path in sorted((self.path / "parts").glob("*")):
            if LEFT.fullmatch(path.name):
                continue  # it is being written, or was when its job was killed
            part = _read_part(path, about["sha256"], columns)
            if parts and parts[-1].index == part.index:
                raise ScanError(f"{path} and {parts[-1].path.name} are for the same rows. Delete one of them.")
            parts.append(part)
        return parts


def check_place(output: Path) -> None:
    """Refuse a place that a scan can't be written to, before anything is. Raises ScanError."""
    if output.exists() and not output.is_dir():
        raise ScanError(f"{output} is a file; --output takes a folder.")
    if (output / description.NAME).exists():
        description.read(output)
    elif output.exists() and any(path.name != LOCK and not LEFT.fullmatch(path.name) for path in output.iterdir()):
        raise ScanError(f"{output} holds other files. Choose a new or empty folder for --output.")


@dataclass(frozen=True)
class _Part:
    index: int
    path: Path
    n_rows: int
    n_rejected: int


def _read_part(path: Path, scan: str, columns: pa.Schema) -> _Part:
    match = PART.fullmatch(path.name)
    if not match or not path.is_file():
        raise ScanError(f"{path} is none of the scan's parts. Move it away.")
    if not _digest(path).startswith(match[2]):
        raise ScanError(f"{path} is damaged: its checksum isn't the one in its name. {AGAIN}")
    index = int(match[1])
    try:
        footer = pq.read_metadata(path)
        own = parse_object((footer.metadata or {}).get(b"part", b""))
        as_planned = footer.schema.to_arrow_schema().equals(columns)
    except (ValueError, RecursionError, pa.ArrowException):
        own, as_planned = {}, False
    n_rejected, place = own.get("n_rejected"), (own.get("scan"), own.get("index"))
    if None not in place and place != (scan, index):
        raise ScanError(f"{path} is from another scan or another place in this one. {AGAIN}")
    if None in place or not as_planned or type(n_rejected) is not int or n_rejected < 0:
        raise ScanError(f"{path} isn't what the job wrote: its columns, or what it says of itself. {AGAIN}")
    rejects = _rejects_of(path)
    if not rejects.is_file() or _digest(rejects) != own.get("rejects"):
        raise ScanError(f"{rejects} isn't what the job wrote. Delete {path}, and the same command makes both again.")
    return _Part(index, path, footer.num_rows, n_rejected)


def _rejects_of(part: Path) -> Path:
    return part.parents[1] / "rejects" / f"{part.name[:11]}.csv"


def _rejected(parts: Sequence[Path]) -> Iterator[bytes]:
    """The content of rejects.csv, a part at a time."""
    yield _csv_bytes([], header=True)
    yield from (_rejects_of(part).read_bytes() for part in parts)


def _csv_bytes(lines: Sequence[Sequence], header: bool = False) -> bytes:
    frame = pd.DataFrame(lines, columns=list(REJECT_COLUMNS), dtype=object)
    return csv_text(frame, header).encode("utf-8", errors="backslashreplace")


def _digest(path: Path) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def _whole(path: Path, stamped: bool = False) -> Iterator[BinaryIO]:
    """Written beside its place, flushed to the disk, then renamed: there whole or not at all. stamped: its digest becomes a part
    of its name.

    Beside it is a name that nothing had, and renaming replaces a link or a pipe: neither is ever written through.
    """
    beside = path.with_name(f"{path.name}.unfinished-{secrets.token_hex(8)}")
    with open(beside, "xb") as stream:
        yield stream
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(beside, path.with_stem(f"{path.stem}-{_digest(beside)[:SHORT]}") if stamped else path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder survive a failure of the machine too."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
