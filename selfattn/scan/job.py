"""A scan from start to end: plan, go on where an earlier run stopped, chunk after chunk, one engine or the other."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.loading import load_encoder
from selfattn.scan.description import MOST_PARTS, ScanError, describe
from selfattn.scan.measure import measure, schema
from selfattn.scan.output import LOCK, ScanFolder, check_place
from selfattn.scan.tables import Chunk, InputError, input_files, plan, read_chunk, words_to_find

PART_ROWS = 4096

Progress = Callable[[int], None]  # so many more rows are done


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


@dataclass(frozen=True)
class Outcome:
    """What a finished scan came to."""

    n_rows: int  # of the input
    n_rejected: int
    n_skipped: int  # empty lines
    n_without: int  # texts of the input with none of the words searched for
    n_occurrences: int
    n_texts: int  # that these stand in


Engine = Callable[[Job, Encoder, list[Chunk], Progress], None]


def run(job: Job, engine: Engine | None = None, progress: Callable[[int, int], Progress] | None = None) -> Outcome:
    """Run the job, or what an earlier run of the same job has left. progress(done, total) gives the counter of rows.

    Raises InputError, ScanError, LoadError, or NotRecomputable where no word can be hidden, before anything is written.
    """
    source, output = Path(job.source), Path(job.output)
    job = replace(job, words=words_to_find(job.words))
    files = input_files(source, job.words)
    if source.is_dir() and output.resolve().is_relative_to(source.resolve()):
        raise InputError(f"The output {output} lies inside the input {source} and would be read as input. Move it.")
    check_place(output)
    encoder = job.load()
    if strange := [str(head) for head in job.heads or () if head not in encoder.all_heads]:
        raise InputError(
            f"{encoder.title} has no {', '.join(strange)}: its heads are L0 H0 to {encoder.all_heads[-1]}. "
            "Change --heads."
        )
    if job.sources:
        encoder.check_hideable()
    chunks = plan(files, job.part_rows, job.words)
    if len(chunks) > MOST_PARTS:
        raise InputError(
            f"{source} makes {len(chunks):,} parts; at most {MOST_PARTS:,} fit. Give a larger --part-rows."
        )
    folder = ScanFolder(output)
    with _locked(output):
        about = describe(encoder, chunks, job.part_rows, job.vectors, job.words, job.heads, job.sources)
        done = folder.prepare(about)
        left = [chunk for chunk in chunks if chunk.index not in done]
        total = sum(chunk.n_rows for chunk in chunks)
        count = progress(total - sum(chunk.n_rows for chunk in left), total) if progress else lambda n: None
        if left:
            (engine or one_process)(job, encoder, left, count)
        scan = folder.finish()
        return Outcome(
            total,
            scan.n_rejected,
            n_occurrences=scan.n_rows,
            n_texts=scan.n_texts,
            n_skipped=sum(chunk.n_skipped for chunk in chunks),
            n_without=sum(chunk.n_without for chunk in chunks),
        )


@contextmanager
def _locked(output: Path) -> Iterator[None]:
    """One job at a time writes to a folder; the system lets go of the lock however the job ends. Raises ScanError."""
    output.mkdir(parents=True, exist_ok=True)
    with open(output / LOCK, "ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ScanError(
                f"Another job is writing to {output}. Wait for its end, or choose another --output."
            ) from None
        yield


def one_process(job: Job, encoder: Encoder, chunks: list[Chunk], progress: Progress) -> None:
    """The local engine: this process, chunk after chunk."""
    for chunk in chunks:
        scan_chunk(job, encoder, chunk, progress)


def scan_chunk(job: Job, encoder: Encoder, chunk: Chunk, progress: Progress = lambda n: None) -> None:
    """Read, measure and write one chunk. Doing it again does no harm: the same part takes the same place."""
    folder = ScanFolder(Path(job.output))
    scan = folder.scan_of(encoder)
    with folder.journal(chunk, scan) as journal:
        progress(chunk.n_without)
        rows = read_chunk(chunk, job.words)
        windows = measure(
            encoder, rows, job.vectors, job.batch_tokens, progress, journal.recall, job.heads, job.sources
        )
        sizes = encoder.n_layers, encoder.n_heads, encoder.d_model
        columns = schema(*sizes, job.vectors, len(job.heads or encoder.all_heads), job.sources)
        folder.write(chunk, scan, columns, windows)
    journal.remove()
