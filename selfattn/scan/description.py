"""scan.json: what a scan is a scan of. Read by its schema, whatever its own digest says: anybody can compute that anew."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import LoadError
from selfattn.encoders.loading import DTYPES
from selfattn.encoders.untrusted_files import parse_object, read_plain
from selfattn.scan.tables import Chunk

NAME = "scan.json"
FORMAT = 3
READ = (2, FORMAT)  # a scan by an earlier version can be read; which rows are rejected has changed since
MOST_BYTES = 2**26  # far above what MOST_PARTS take
MOST_PARTS = 1_000_000  # their names count with six digits

Fits = Callable[[Any], bool]


class ScanError(ValueError):
    """The folder can't be used. The message says why and what to do."""


def text(most: int = MOST_BYTES, spelled: str = r"(?s:.*)") -> Fits:
    """What fits: a text of at most so many characters, spelled like this."""
    return lambda value: isinstance(value, str) and len(value) <= most and bool(re.fullmatch(spelled, value))


def whole_number(least: int, most: int) -> Fits:
    """What fits: a whole number from least to most."""
    return lambda value: type(value) is int and least <= value <= most


def fields(each: Mapping[str, Fits]) -> Fits:
    """What fits: an object with exactly these keys, each with what fits it."""
    return lambda value: (
        isinstance(value, dict) and value.keys() == each.keys() and all(fit(value[name]) for name, fit in each.items())
    )


def _list(each: Fits) -> Fits:
    return lambda value: isinstance(value, list) and len(value) <= MOST_PARTS and all(map(each, value))


def _or_none(fit: Fits) -> Fits:
    return lambda value: value is None or fit(value)


def _files(value: Any) -> bool:
    """A digest of each file that the encoder was read from, its configuration among them."""
    return (
        isinstance(value, dict)
        and "config.json" in value
        and all(map(text(255), value))
        and all(map(SHA256, value.values()))
    )


SHA256 = text(64, r"[0-9a-f]{64}")
SCHEMA = {
    "sha256": SHA256,
    "format": lambda value: type(value) is int and value in READ,
    "encoder": fields({
        "name": text(4096), "revision": _or_none(text(200)), "dtype": text(8, "|".join(DTYPES)),
        "n_layers": whole_number(1, 256), "n_heads": whole_number(1, 1024), "d_model": whole_number(1, 65_536),
        "files": _files,
    }),
    "part_rows": whole_number(1, 2**63 - 1),
    "vectors": lambda value: isinstance(value, bool),
    "words": _or_none(_list(text())),
    "heads": _or_none(_list(text(12, r"L\d{1,4} H\d{1,4}"))),
    "input": _list(fields({"file": text(4096), "chunks": _list(text(16, r"[0-9a-f]{16}"))})),
}  # fmt: skip
# Stands there only where it was asked for: a scan without is described as before, so that an older one can be gone on with.
ASKED_FOR = {"sources": lambda value: value is True}


def describe(
    encoder: Encoder,
    chunks: Sequence[Chunk],
    part_rows: int,
    vectors: bool,
    words: Sequence[str] = (),
    heads: Sequence[Head] | None = None,
    sources: bool = False,
) -> dict:
    """What a scan is a scan of: compared before a stopped one goes on."""
    by_file = groupby(chunks, lambda chunk: chunk.file)
    about = {
        "format": FORMAT,
        "encoder": describe_encoder(encoder),
        "part_rows": part_rows,
        "vectors": vectors,
        **({"sources": True} if sources else {}),
        "words": list(words) or None,
        "heads": list(map(str, heads or ())) or None,
        "input": [{"file": Path(file).name, "chunks": [chunk.digest for chunk in own]} for file, own in by_file],
    }
    return {"sha256": _digest_of(about), **about}


def describe_encoder(encoder: Encoder) -> dict:
    """What of an encoder must be the same: its precision, its sizes, the digest of each file that it was read from."""
    names = ("name", "revision", "dtype", "n_layers", "n_heads", "d_model", "files")
    return {name: getattr(encoder, name) for name in names}


def as_bytes(about: dict) -> bytes:
    """The content of scan.json. Raises ScanError for what could not be read again."""
    data = json.dumps(about, indent=1).encode()
    try:
        _check(parse_object(data))
        if len(data) > MOST_BYTES:
            raise ValueError(f"it would have {len(data):,} bytes; at most {MOST_BYTES:,} are read")
    except ValueError as error:
        raise ScanError(
            f"This scan can't be described in {NAME}: {error}. Give fewer words, or shorter names."
        ) from None
    return data


def read(folder: Path) -> dict:
    """What scan.json says: of the schema, and of its own digest. Raises ScanError."""
    try:
        about = parse_object(read_plain(folder / NAME, MOST_BYTES))
        if not {"format", "n_parts"} & about.keys():
            raise ValueError(f"{NAME} isn't what the job writes")
    except (LoadError, ValueError, RecursionError, MemoryError) as error:
        reason = f"{type(error).__name__}: {error}"[:500]
        raise ScanError(f"{folder} holds no scan by python -m selfattn.scan ({reason}).") from None
    if about.get("format") not in READ:
        raise ScanError(f"{folder} holds a scan by another version of selfattn. Scan anew with another --output.")
    try:
        _check(about)
        if about["sha256"] != _digest_of({name: about[name] for name in about if name != "sha256"}):
            raise ValueError("its digest is another's")
    except ValueError as error:
        raise ScanError(
            f"{folder / NAME} isn't what the job wrote ({error}): it was changed or is damaged. Put back what it was, or "
            "scan anew with another --output."
        ) from None
    return about


def n_parts(about: dict) -> int:
    """How many parts the finished scan has."""
    return sum(len(file["chunks"]) for file in about["input"])


def _check(about: dict) -> None:
    """Raise ValueError for what a job never writes."""
    schema = SCHEMA | {name: fit for name, fit in ASKED_FOR.items() if name in about}
    for name in {**schema, **about}:
        if name not in schema or name not in about or not schema[name](about[name]):
            raise ValueError(f"{name[:80]!r} doesn't fit")
    sizes = about["encoder"]
    heads = list(map(Head.named, about["heads"] or ()))
    if len({*heads}) < len(heads) or any(at.layer >= sizes["n_layers"] or at.head >= sizes["n_heads"] for at in heads):
        raise ValueError("'heads' aren't the encoder's, each once")
    if n_parts(about) > MOST_PARTS:
        raise ValueError(f"'input' has more than {MOST_PARTS:,} chunks")


def difference(earlier: dict, now: dict) -> str | None:
    """The first thing but the input in which two descriptions differ, in words."""
    for name in {**earlier, **now}:
        before, after = earlier.get(name, False), now.get(name, False)
        if name in ("encoder", "files") and before != after:
            return difference(before or {}, after or {})
        if name not in ("input", "sha256") and before != after:
            is_file = "." in name
            return (
                f"the encoder's {name} has changed" if is_file else f"{name} was {before!r:.200} and is {after!r:.200}"
            )
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
