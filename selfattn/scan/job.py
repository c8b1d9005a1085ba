"""A scan from start to end: plan, go on where an earlier run stopped, chunk after chunk, one engine or the other."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from selfattn.encoders.encoder import Encoder
from selfattn.scan.description import MOST_PARTS, Job, ScanError, describe
from selfattn.scan.measure import measure
from selfattn.scan.output import LOCK, ScanFolder, check_place
from selfattn.scan.tables import Chunk, InputError, words_to_find

Progress = Callable[[int], None]  # so many more rows are done


@dataclass(frozen=True)
class Outcome:
    """What a finished scan came to."""

    n_rows: int  # of the input
    n_rejected: int
    n_texts: int  # that the occurrences stand in
    n_occurrences: int = 0
    n_skipped: int = 0  # empty lines
    n_without: int = 0  # texts of the input with none of the words searched for


Engine = Callable[[Job, Encoder, list[Chunk], Progress], None]


def run(job: Job, engine: Engine | None = None, progress: Callable[[int, int], Progress] | None = None) -> Outcome:
    """Run the job, or what an earlier run of the same job has left. progress(done, total) gives the counter of rows.

    Raises InputError, ScanError, LoadError, or NotRecomputable where no word can be hidden, before anything is written.
    """
    source, output = Path(job.source), Path(job.output)
    job = replace(job, words=words_to_find(job.words))
    job.files()  # that there are any is asked before the encoder is loaded
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
    chunks = job.chunks()
    if len(chunks) > MOST_PARTS:
        raise InputError(
            f"{source} makes {len(chunks):,} parts; at most {MOST_PARTS:,} fit. Give a larger --part-rows."
        )
    with _locked(output):
        folder = ScanFolder(output, describe(job, encoder, chunks))
        done = folder.prepare()
        left = [chunk for chunk in chunks if chunk.index not in done]
        total = sum(chunk.n_rows for chunk in chunks)
        count = progress(total - sum(chunk.n_rows for chunk in left), total) if progress else lambda n: None
        if left:
            (engine or one_process)(job, encoder, left, count)
        scan = folder.finish()
        return Outcome(
            total,
            scan.n_rejected,
            scan.n_texts,
            scan.n_rows,
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
    folder = ScanFolder.of_job(job, encoder)
    for chunk in chunks:
        scan_chunk(job, encoder, folder, chunk, progress)


def scan_chunk(
    job: Job, encoder: Encoder, folder: ScanFolder, chunk: Chunk, progress: Progress = lambda n: None
) -> None:
    """Read, measure and write one chunk. Doing it again does no harm: the same part takes the same place."""
    progress(chunk.n_without)
    rows = job.rows(chunk)
    folder.write(chunk, *measure(encoder, rows, job.vectors, job.batch_tokens, progress, job.heads, job.sources))
