"""A scan's folder: what it is a scan of, its parts, its rejected rows; written so that a kill at any moment is harmless.

A part is written beside its place and then renamed, after the rejected rows of the same chunk: a part that is there is
whole, a part that isn't is made again. `scan.json` says what the parts belong to.
"""

import csv
import hashlib
import io
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from selfattn.encoders.encoder import Encoder
from selfattn.scan.measure import Reject
from selfattn.scan.tables import Chunk

REJECT_COLUMNS = ("row", "file", "line", "sentence", "word", "sense", "reason")
DICTIONARIES = ["sentence", "word", "sense", "top_word"]
SAMPLE = 65536  # bytes at each end of an input file that tell it from another


class ScanError(ValueError):
    """The folder can't be used. The message says why and what to do."""


@dataclass(frozen=True)
class Scan:
    """A scan that was read back. `frame` holds the rows; `heads` a summary that never needs them all in memory."""

    folder: Path
    model: str
    revision: str | None
    n_layers: int
    n_heads: int
    d_model: int
    finished: bool  # False: the job was stopped or is still running; the parts that are there are whole
    n_rows: int  # occurrences
    n_rejected: int

    def parts(self) -> list[Path]:
        """The Parquet files, in the input's order."""
        return sorted((self.folder / "parts").glob("part-*.parquet"))

    def frame(self, columns: Sequence[str] | None = None, limit: int | None = None) -> pd.DataFrame:
        """The rows (the first `limit`) as a table; the lists are arrays, [layer * n_heads + head]."""
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
        index = pd.MultiIndex.from_product([range(self.n_layers), range(self.n_heads)], names=["layer", "head"])
        return pd.DataFrame({name: sums[name] / max(1, self.n_rows) for name in names}, index=index).reset_index()

    def rejects(self) -> pd.DataFrame:
        """The rejected rows with their reasons."""
        return pd.read_csv(self.folder / "rejects.csv", dtype=str, keep_default_na=False)

    def _batches(self, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        for part in self.parts():
            yield from pq.ParquetFile(part).iter_batches(4096, columns=None if columns is None else list(columns))


def read_scan(folder: str | Path) -> Scan:
    """Open what `python -m selfattn.scan` wrote. Raises ScanError for a folder that holds no scan."""
    folder = Path(folder)
    try:
        about = json.loads((folder / "scan.json").read_text(encoding="utf-8"))
        shape = {name: int(about["model"][name]) for name in ("n_layers", "n_heads", "d_model")}
        name, revision = about["model"]["name"], about["model"]["revision"]
        done = {int(path.stem.split("-")[1]) for path in (folder / "parts").glob("part-*.parquet")}
        n_rows = sum(pq.read_metadata(path).num_rows for path in (folder / "parts").glob("part-*.parquet"))
        rejects = folder / "rejects.csv"
        n_rejected = len(pd.read_csv(rejects, usecols=["row"])) if rejects.exists() else 0
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ScanError(
            f"{folder} holds no scan by python -m selfattn.scan ({type(error).__name__}: {error})."
        ) from None
    finished = rejects.exists() and len(done) == about["n_parts"]
    return Scan(folder, name, revision, **shape, finished=finished, n_rows=n_rows, n_rejected=n_rejected)


@dataclass(frozen=True)
class ScanFolder:
    """The writing side of a scan's folder. Workers may write different chunks at the same time."""

    path: Path

    def prepare(self, about: dict) -> None:
        """Make the folder, or check that it holds a part of this very scan. Raises ScanError."""
        note = self.path / "scan.json"
        if note.exists():
            self._check_same(json.loads(note.read_text(encoding="utf-8")), about)
        elif self.path.exists() and any(self.path.iterdir()):
            raise ScanError(f"{self.path} holds other files. Choose a new or empty folder for --output.")
        for name in ("parts", "rejects"):
            (self.path / name).mkdir(parents=True, exist_ok=True)
        for left in self.path.rglob("*.unfinished-*"):
            left.unlink()
        if not note.exists():
            _write(note, json.dumps(about, indent=1).encode())

    def is_done(self, chunk: Chunk) -> bool:
        """Whether the chunk's part is there; then it is whole."""
        return self._part(chunk).exists()

    def write(self, chunk: Chunk, schema: pa.Schema, windows: Iterable[tuple[pa.Table, Sequence[Reject]]]) -> None:
        """Keep a chunk's rows and rejected rows as they come. The part gets its name last: only then is the chunk done."""
        # A dictionary of numbers that hardly repeat makes the file larger and takes 30 MB while it is built.
        parquet = {"compression": "zstd", "use_dictionary": DICTIONARIES}
        with (
            _whole(self._part(chunk)) as part,
            _whole(self._rejects(chunk)) as rejected,
            pq.ParquetWriter(part, schema, **parquet) as writer,
        ):
            for table, rejects in windows:
                writer.write_table(table)
                rows = ((reject.row, reject.reason) for reject in rejects)
                lines = [(r.row, r.file, r.line, r.sentence, r.word, r.sense, reason) for r, reason in rows]
                rejected.write(_csv_bytes(lines))

    def finish(self, chunks: Sequence[Chunk]) -> int:
        """Gather the rejected rows of all chunks in rejects.csv; returns how many."""
        count = 0
        target = self.path / f"rejects.csv.unfinished-{os.getpid()}"
        with open(target, "wb") as out:
            out.write(_csv_bytes([REJECT_COLUMNS]))
            for chunk in chunks:
                data = self._rejects(chunk).read_bytes()
                out.write(data)
                count += sum(1 for _ in csv.reader(data.decode().splitlines(keepends=True)))
        os.replace(target, self.path / "rejects.csv")
        return count

    def _part(self, chunk: Chunk) -> Path:
        return self.path / "parts" / f"part-{chunk.index:06d}.parquet"

    def _rejects(self, chunk: Chunk) -> Path:
        return self.path / "rejects" / f"part-{chunk.index:06d}.csv"

    def _check_same(self, earlier: dict, about: dict) -> None:
        for name, value in about.items():
            if earlier.get(name) != value:
                raise ScanError(
                    f"{self.path} holds a scan with another {name.replace('_', ' ')}. To go on with it give the same "
                    "command as then; for a new scan choose another --output."
                )


def describe(files: Sequence[Path], encoder: Encoder, chunks: Sequence[Chunk], part_rows: int, vectors: bool) -> dict:
    """What a scan is a scan of: compared before a stopped one goes on."""
    names = ("name", "revision", "digest", "dtype", "n_layers", "n_heads", "d_model")
    return {
        "model": {name: getattr(encoder, name) for name in names},
        "input": [{"name": path.name, "bytes": path.stat().st_size, "ends": _ends(path)} for path in files],
        "part_rows": part_rows,
        "vectors": vectors,
        "n_parts": len(chunks),
        "n_rows": sum(chunk.n_rows for chunk in chunks),
    }


def _ends(path: Path) -> str:
    """A digest of the file's first and last bytes: the whole of a large file would take too long."""
    with open(path, "rb") as stream:
        head = stream.read(SAMPLE)
        stream.seek(max(0, path.stat().st_size - SAMPLE))
        return hashlib.sha256(head + stream.read(SAMPLE)).hexdigest()


def _csv_bytes(lines: Sequence[Sequence]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(lines)
    return text.getvalue().encode("utf-8", errors="backslashreplace")


def _write(path: Path, data: bytes) -> None:
    with _whole(path) as stream:
        stream.write(data)


@contextmanager
def _whole(path: Path) -> Iterator[BinaryIO]:
    """All or nothing: written beside its place, flushed to the disk, then renamed."""
    beside = path.with_name(f"{path.name}.unfinished-{os.getpid()}")
    with open(beside, "wb") as stream:
        yield stream
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(beside, path)
