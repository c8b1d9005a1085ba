"""scan.json: what a scan is a scan of. What is read of it is checked, whatever its own digest says: anybody can compute one."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, starmap, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import LoadError, brief
from selfattn.encoders.loading import load_encoder
from selfattn.encoders.untrusted_files import parse_object, read_plain
from selfattn.scan.tables import PLAIN, Chunk, Row, input_files, plan, read_chunk, rows_of

NAME = "scan.json"
FORMAT = 3
MOST_BYTES = 2**26  # far above what MOST_PARTS take
MOST_PARTS = 1_000_000  # their names count with six digits
MOST = {"n_layers": 256, "n_heads": 1024, "d_model": 65_536}  # of an encoder's sizes
LONGEST = 4096  # characters of an encoder's name: a path has no more
PART_ROWS = 1024  # seconds on a processor: a killed job repeats one part at most


class ScanError(ValueError):
    """The folder can't be used. The message says why and what to do."""


@dataclass(frozen=True)
class Job:
    """What to scan, with which encoder, and where to. Plain values only, so that it travels to other machines."""

    source: str
    output: str
    model: str | None = None
    revision: str | None = None
    device: str = "auto"
    dtype: str = "float32"
    part_rows: int = PART_ROWS
    vectors: bool = False
    batch_tokens: int | None = None
    words: tuple[str, ...] = ()  # to search every text for; none: the tables' column word says which
    heads: tuple[Head, ...] | None = None  # to measure; None: all
    sources: bool = False  # hide every other word from each occurrence

    def load(self) -> Encoder:
        """The job's encoder. Raises LoadError."""
        return load_encoder(self.model, revision=self.revision, device=self.device, dtype=self.dtype)

    def files(self) -> list[Path]:
        """The input's files. Raises InputError."""
        return input_files(Path(self.source), self.words)

    def chunks(self) -> list[Chunk]:
        """The input in parts. Raises InputError."""
        return plan(self.files(), self.part_rows, self.words)

    def rows(self, chunk: Chunk) -> Iterator[Row]:
        """The rows of a part in which there is something to find. Raises InputError."""
        return read_chunk(chunk, self.words)

    def texts(self) -> list[Row]:
        """Every row of the input as a text, whatever words stand in it. Raises InputError."""
        return [row for file in input_files(Path(self.source), (PLAIN,)) for row in rows_of(file, searched=True)]


def describe(job: Job, encoder: Encoder, chunks: Sequence[Chunk]) -> dict:
    """What a scan is a scan of: compared before a stopped one goes on."""
    by_file = groupby(chunks, lambda chunk: chunk.file)
    about = {
        "format": FORMAT,
        "encoder": describe_encoder(encoder),
        "part_rows": job.part_rows,
        "vectors": job.vectors,
        # Only where it was asked for: a scan without is described as before, so that an older one can be gone on with.
        **({"sources": True} if job.sources else {}),
        "words": list(job.words) or None,
        "heads": list(map(str, job.heads or ())) or None,
        "input": [{"file": Path(file).name, "chunks": [chunk.digest for chunk in own]} for file, own in by_file],
    }
    return {"sha256": _digest_of(about), **about}


def describe_encoder(encoder: Encoder) -> dict:
    """What of an encoder must be the same: its precision, its sizes, the digest of each file that it was read from."""
    names = ("name", "revision", "dtype", "n_layers", "n_heads", "d_model", "files")
    return {name: getattr(encoder, name) for name in names}


def read(folder: Path) -> dict:
    """What scan.json says, its own digest and what is read of it again checked. Raises ScanError."""
    try:
        about = parse_object(read_plain(folder / NAME, MOST_BYTES))
        if "format" not in about:
            raise ValueError(f"{NAME} isn't what the job writes")
    except (LoadError, ValueError, RecursionError, MemoryError) as error:
        raise ScanError(f"{folder} holds no scan by python -m selfattn.scan ({brief(error)}).") from None
    if about["format"] != FORMAT:
        raise ScanError(f"{folder} holds a scan by another version of selfattn. Scan anew with another --output.")
    try:
        _check(about)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ScanError(
            f"{folder / NAME} isn't what the job wrote ({brief(error)}): it was changed or is damaged. Put back what it was, "
            "or scan anew with another --output."
        ) from None
    return about


def n_parts(about: dict) -> int:
    """How many parts the finished scan has."""
    return sum(len(file["chunks"]) for file in about["input"])


def measured(about: dict) -> tuple[Head, ...]:
    """The heads that a part's lists run over."""
    every = starmap(Head, np.ndindex(about["encoder"]["n_layers"], about["encoder"]["n_heads"]))
    return tuple(map(Head.named, about["heads"])) if about["heads"] else tuple(every)


def _check(about: dict) -> None:
    """Raise AttributeError, KeyError, TypeError or ValueError where what is read again isn't what a job writes."""
    if about["sha256"] != _digest_of({name: about[name] for name in about if name != "sha256"}):
        raise ValueError("its digest is another's")
    encoder, words, files = about["encoder"], about["words"] or [], about["input"]
    heads = [Head.named(name) for name in about["heads"] or ()]
    fits = (
        all(type(encoder[name]) is int and 1 <= encoder[name] <= most for name, most in MOST.items())
        and isinstance(encoder["name"], str)
        and len(encoder["name"]) <= LONGEST
        and isinstance(encoder["revision"], str | None)
        and isinstance(encoder["files"], dict)
        and all(at.layer < encoder["n_layers"] and at.head < encoder["n_heads"] for at in heads)
        and len({*heads}) == len(heads)
        and isinstance(words, list)
        and all(isinstance(word, str) for word in words)
        and isinstance(about["vectors"], bool)
        and about.get("sources", True) is True
        and isinstance(files, list)
        and all(isinstance(file["chunks"], list) and isinstance(file["file"], str) for file in files)
        and n_parts(about) <= MOST_PARTS
    )
    if not fits:
        raise ValueError("something in it doesn't fit")


def difference(earlier: dict, now: dict) -> str | None:
    """The first thing but the input in which two descriptions differ, in words."""
    for name in {**earlier, **now}:
        before, after = earlier.get(name, False), now.get(name, False)
        if before == after or name in ("input", "sha256"):
            continue
        if name in ("encoder", "files"):
            return difference(before or {}, after or {})
        changed = f"{name} was {before!r:.200} and is {after!r:.200}"
        return f"the encoder's {name} has changed" if "." in name else changed
    return None


def input_difference(earlier: dict, now: dict) -> str | None:
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


def _digest_of(about: dict) -> str:
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
