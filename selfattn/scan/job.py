"""Measure the rows of a scan's input in parts, skipping the parts already written."""

import gc
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path

from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.loading import load_encoder
from selfattn.scan.measure import measure, words_to_find
from selfattn.scan.output import FORMAT, NAME, Counts, Scan, ScanError, new_file, read_scan, write_part
from selfattn.scan.tables import InputError, Row, input_files, read_rows

PART_ROWS = 1024  # rows per part: some seconds on a CPU
Progress = Callable[[int], None]  # called with the number of rows done since the last call
Part = tuple[str, list[Row]]  # name, and rows that are measured together and written as one file


@dataclass(frozen=True)
class Job:
    """A scan's input, encoder, options and output folder, as plain values."""

    source: str
    output: str
    model: str | None = None
    revision: str | None = None
    device: str = "auto"
    dtype: str = "float32"
    part_rows: int = PART_ROWS
    vectors: bool = False
    batch_tokens: int | None = None
    words: tuple[str, ...] = ()  # words to search every text for; empty: use the tables' column word
    heads: tuple[Head, ...] | None = None  # heads to measure; None: all
    sources: bool = False  # True: hide each of the other words from each occurrence

    def load(self) -> Encoder:
        """Load the job's encoder. Raises LoadError."""
        return load_encoder(self.model, revision=self.revision, device=self.device, dtype=self.dtype)

    def tables(self, searched: bool) -> Iterator[Iterator[Row]]:
        """Yield, for each input file, an iterator over the file's rows. Raises InputError.

        Row numbers continue from file to file.
        """
        numbers = count()
        for file in input_files(Path(self.source), searched):
            yield (row._replace(row=next(numbers)) for row in read_rows(file, searched))

    def parts(self) -> Iterator[Part]:
        """Yield each input file's rows in parts of at most `part_rows` rows. Raises InputError."""
        names = (f"part-{index:06d}" for index in count())
        for rows in self.tables(bool(self.words)):
            while part := list(islice(rows, self.part_rows)):
                yield next(names), part


def run(job: Job, engine: Callable | None = None, progress: Callable[[int, int], Progress] | None = None) -> Counts:
    """Scan the parts of the input that have no output yet. Return the `Counts` of the complete scan.

    engine(job, encoder, parts, counter): scans the parts (None: this process scans the parts)
    progress(done, total): called once; returns `counter`, a function of type `Progress`
    Raises InputError, ScanError, LoadError or NotRecomputable before anything is written.
    """
    source, output = Path(job.source), Path(job.output)
    job = replace(job, words=words_to_find(job.words))
    files = input_files(source, bool(job.words))
    if source.is_dir() and output.resolve().is_relative_to(source.resolve()):
        raise InputError(f"The output {output} lies inside the input {source}. Choose an --output outside the input.")
    earlier = read_scan(output) if (output / NAME).exists() else None
    if not earlier and output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise ScanError(f"{output} is not a scan's folder. Choose a new or empty folder for --output.")
    encoder = job.load()
    if strange := [str(head) for head in job.heads or () if head not in encoder.all_heads]:
        has = f"its heads are L0 H0 to {encoder.all_heads[-1]}"
        raise InputError(f"{encoder.title} has no {', '.join(strange)}: {has}. Change --heads.")
    if job.sources:
        encoder.check_hideable()
    sizes = {name: len(rows) for name, rows in job.parts()}  # reads all input: an unreadable file stops the job here
    about = describe(job, encoder, files) | {"n_parts": len(sizes)}
    if earlier:
        check_same(earlier, about)
    else:
        output.mkdir(parents=True, exist_ok=True)
        with new_file(output / NAME) as stream:
            stream.write(json.dumps(about, indent=1).encode())
    for folder in ("parts", "rejects"):
        (output / folder).mkdir(exist_ok=True)
    done = {part.stem for part in earlier.parts} if earlier else set()
    counter = progress(sum(sizes[name] for name in done), sum(sizes.values())) if progress else lambda n: None
    left = (part for part in job.parts() if part[0] not in done)
    gc.freeze()  # collections then skip the objects of torch and transformers (7 % of the time)
    try:
        if engine and done != {*sizes}:
            engine(job, encoder, left, counter)
        else:
            for part in left:
                scan_part(job, encoder, part, counter)
    finally:
        gc.unfreeze()
    return read_scan(output).counts


def scan_part(job: Job, encoder: Encoder, part: Part, progress: Progress = lambda n: None) -> None:
    """Measure the rows of one part of the scan, and write the part's file."""
    (name, rows), options = part, (job.vectors, job.batch_tokens, progress, job.heads, job.sources, job.words)
    table, rejects = measure(encoder, rows, *options)
    n_texts, n_skipped = len(table["row"].unique()), sum(row.n_skipped for row in rows)
    n_without = len(rows) - len(rejects) - n_texts
    counts = Counts(len(rows), len(rejects), n_texts, len(table), n_skipped, n_without)
    write_part(Path(job.output), name, table, rejects, counts)


def describe(job: Job, encoder: Encoder, files: Sequence[Path]) -> dict:
    """Return everything that determines the results, for scan.json."""
    about = {"format": FORMAT, "words": list(job.words), "heads": list(map(str, job.heads or encoder.all_heads))}
    about |= {name: getattr(job, name) for name in ("part_rows", "vectors", "sources")}
    about |= {name: getattr(encoder, name) for name in ("name", "revision", "dtype", "n_layers", "n_heads", "d_model")}
    for path in files:
        with open(path, "rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        about[f"input {path.relative_to(Path(job.source).parent)}"] = digest
    return about | {"content": encoder.content}


def check_same(scan: Scan, about: dict) -> None:
    """Raise ScanError if an entry of `about` differs from the same entry of scan.json."""
    for name, value in about.items():
        if name in ("name", "revision"):  # the same encoder may now be in another folder
            continue
        if (before := scan.about.get(name)) != value:
            other = f"{scan.folder} holds another scan: its {name} is {before!r:.200}, not {value!r:.200}"
            raise ScanError(f"{other}. Use the same command, encoder and input as before, or choose another --output.")
