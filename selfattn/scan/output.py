"""Read and write a scan's folder: scan.json, parts/*.parquet and rejects/*.csv."""

import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from selfattn.encoders.capture import Head
from selfattn.encoders.errors import LoadError, brief
from selfattn.encoders.untrusted_files import parse_object, read_plain
from selfattn.scan.measure import Reject
from selfattn.scan.tables import Row
from selfattn.tidy_tables import csv_text, sources_frame, unescaped

NAME, FORMAT, MOST_BYTES = "scan.json", 4, 2**26
REJECT_COLUMNS = [*Row._fields[:6], "reason"]
NUMBERS = {"top_weight", "entropy", "special_share", "vectors", "source_moves"}
TEXTS = ["sentence", "word", "sense", "top_word"]  # texts that repeat


class ScanError(ValueError):
    """A scan's folder can't be used. The message gives the remedy."""


class Counts(NamedTuple):
    """Counts of one part of a scan, or of the complete scan."""

    n_rows: int = 0  # rows of the input
    n_rejected: int = 0
    n_texts: int = 0  # texts with occurrences
    n_occurrences: int = 0
    n_skipped: int = 0  # empty lines
    n_without: int = 0  # texts with none of the words searched for


@dataclass(frozen=True)
class Scan:
    """A scan's results. Only `frame()` and `rejects()` load all rows."""

    folder: Path
    about: dict[str, Any]  # scan.json
    parts: tuple[Path, ...]  # the Parquet files, in the input's order
    measured: tuple[Head, ...]  # the measured heads, in the order of the lists' entries
    finished: bool  # False: the job was stopped or is still running
    model: str
    has_sources: bool  # True if the scan was made with --sources
    counts: Counts
    n_rows: int  # number of occurrences
    n_texts: int
    n_rejected: int

    def __repr__(self) -> str:
        heads = f"{len(self.measured)} heads{'' if self.finished else ', not finished'}"
        return f"<Scan {self.folder}: {self.n_rows:,} occurrences, {self.n_rejected:,} rejected rows, {heads}>"

    def frame(self, columns: list[str] | None = None, limit: int | None = None) -> pd.DataFrame:
        """Return all rows, or the first `limit` rows. The lists in cells have one entry per measured head."""
        tables: list[pa.Table] = []
        for table in self._tables(columns):
            tables.append(table)
            if limit is not None and sum(map(len, tables)) >= limit:
                break
        return pa.concat_tables(tables).slice(0, limit).to_pandas() if tables else pd.DataFrame()

    def heads(self) -> pd.DataFrame:
        """Return each head's means of the columns top_weight, entropy (in bits) and special_share over all rows."""
        names, sums = ["top_weight", "entropy", "special_share"], np.zeros((3, len(self.measured)))
        for table in self._tables(names):
            lists = [table[name].combine_chunks().flatten().to_numpy().reshape(len(table), -1) for name in names]
            sums += [values.sum(axis=0, dtype="float64") for values in lists]
        means = dict(zip(names, sums / max(1, self.n_rows)))
        return pd.DataFrame(self.measured, columns=["layer", "head"]).assign(**means)

    def sources(self) -> pd.DataFrame:
        """Return, for each word, the other words whose hiding changes the word's vector most.

        Raises ScanError for a scan without --sources.
        """
        if not self.has_sources:
            raise ScanError(f"{self.folder} was made without --sources. Scan again with --sources, into a new folder.")
        return sources_frame(self._tables(["sentence", "word", "sources", "source_moves"]))

    def rejects(self) -> pd.DataFrame:
        """Return the rejected rows with their reasons."""
        files = (self.folder / "rejects" / f"{part.stem}.csv" for part in self.parts)
        tables = [pd.read_csv(path, dtype=str, keep_default_na=False) for path in files if path.exists()]
        return pd.concat([pd.DataFrame(columns=REJECT_COLUMNS), *tables], ignore_index=True).map(unescaped)

    def _tables(self, columns: list[str] | None) -> Iterator[pa.Table]:
        for part in self.parts:
            try:
                table = pq.ParquetFile(part, page_checksum_verification=True).read(columns)
            except (OSError, ValueError, pa.ArrowException) as error:
                raise ScanError(f"{part} can't be read: {brief(error)}.") from None
            for column in (table[name].combine_chunks() for name in NUMBERS & {*table.column_names}):
                if column.null_count or not np.isfinite(column.flatten().to_numpy(zero_copy_only=False)).all():
                    raise ScanError(f"{part} is damaged: it contains NaN or infinity. Scan again.")
            yield table


def read_scan(folder: str | Path) -> Scan:
    """Open a scan's folder. Raises ScanError."""
    folder = path = Path(folder)
    try:
        about = parse_object(read_plain(folder / NAME, MOST_BYTES))
        if about["format"] != FORMAT:
            raise ValueError("another version of selfattn wrote the scan; read parts/*.parquet with pandas or DuckDB")
        measured = tuple(map(Head.named, about["heads"]))
        parts, counts = tuple(sorted((folder / "parts").glob("part-*.parquet"))), Counts()
        for path in parts:
            of_part = json.loads(pq.read_metadata(path).metadata[b"counts"])
            counts = Counts(*(n + of_part[name] for name, n in counts._asdict().items()))
        derived = about["name"], about["sources"], counts, counts.n_occurrences, counts.n_texts, counts.n_rejected
        return Scan(folder, about, parts, measured, len(parts) == about["n_parts"], *derived)
    except (LoadError, AttributeError, LookupError, TypeError, ValueError, RecursionError, OSError) as error:
        remedy = "Choose another --output" if path == folder else "Move the file away, and run the command again"
        raise ScanError(f"{path} holds no scan that selfattn can read ({brief(error)}). {remedy}.") from None


def write_part(folder: Path, name: str, table: pa.Table, rejects: Sequence[Reject], counts: Counts) -> None:
    """Write the rows, counts and rejected rows of one part of a scan. Raises ScanError."""
    if rejects:
        cells = [[*reject.row[:6], reject.reason] for reject in rejects]
        text = csv_text(pd.DataFrame(cells, columns=REJECT_COLUMNS, dtype=object))
        with _put(folder / "rejects" / f"{name}.csv") as stream:
            stream.write(text.encode("utf-8", errors="backslashreplace"))
    table = table.replace_schema_metadata({**table.schema.metadata, "counts": json.dumps(counts._asdict())})
    with _put(folder / "parts" / f"{name}.parquet") as stream:
        pq.write_table(table, stream, compression="zstd", use_dictionary=TEXTS, write_page_checksum=True)


@contextmanager
def _put(path: Path) -> Iterator[BinaryIO]:
    """Write a file under a temporary name with a leading dot, and rename the complete file."""
    hidden = path.with_name(f".{path.stem}.{secrets.token_hex(4)}")
    with new_file(hidden) as stream:
        yield stream
    os.replace(hidden, path)


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Write a new file, and remove the file if writing fails. Raises ScanError."""
    stream = open(path, "xb")  # noqa: SIM115 (an existing file must stay)
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        path.unlink(missing_ok=True)
        reason = error.strerror or brief(error)
        raise ScanError(
            f"{path.parent} can't be written: {reason}. Free some disk space, and run the command again."
        ) from None
