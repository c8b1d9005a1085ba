"""The Ray engine: the same chunks on many workers of one machine or a cluster, by Ray Data (requirements-ray.txt).

Chunks are what is sent, not rows: each worker reads its chunk from the shared storage, measures it and writes its part.
A worker that dies is replaced and its chunk done again; the part takes the same place, so no row comes twice.
"""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from selfattn.encoders.encoder import Encoder
from selfattn.encoders.loading import choose_device
from selfattn.scan.description import Job, ScanError
from selfattn.scan.job import Progress, scan_chunk
from selfattn.scan.output import ScanFolder
from selfattn.scan.tables import Chunk


def ray_engine(address: str | None = None, workers: int | None = None) -> Callable:
    """An engine for `run`. address None: a Ray of its own on this machine, ended afterwards. Raises ScanError."""
    try:
        import ray.data
    except ImportError:
        raise ScanError("--engine ray needs Ray: pip install 'ray[data]' (selfattn's extra ray).") from None

    def engine(job: Job, encoder: Encoder, chunks: list[Chunk], progress: Progress) -> None:
        started = not ray.is_initialized()
        if started:
            _connect(ray, address)
        try:
            _run(ray, job, encoder.device, chunks, workers, progress)
        finally:
            if started:
                ray.shutdown()

    return engine


class ChunkWorker:
    """One worker: an encoder, loaded once, and chunk after chunk."""

    def __init__(self, job: Job):
        import torch

        if choose_device(job.device) == "cpu":
            torch.set_num_threads(1)  # a worker has one core; more threads would fight over it
        self._job, self._encoder = job, job.load()
        self._folder = ScanFolder.of_job(job, self._encoder)

    def __call__(self, batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Do the chunks of a batch; what comes back says how many rows are done."""
        for values in zip(*(batch[name].tolist() for name in Chunk.__dataclass_fields__)):
            chunk = Chunk(*values)
            if not self._folder.is_done(chunk):  # done by a worker that died later
                scan_chunk(self._job, self._encoder, self._folder, chunk)
        return {"n_rows": batch["n_rows"]}


def _connect(ray: Any, address: str | None) -> None:
    try:
        ray.init(address=address, log_to_driver=False, configure_logging=True, logging_level="error")
    except ConnectionError as error:
        raise ScanError(f"There is no Ray cluster at {address!r}: {error}") from None


def _run(ray: Any, job: Job, device: str, chunks: list[Chunk], workers: int | None, progress: Progress) -> None:
    on_gpu = device.split(":")[0] == "cuda"
    slots = int(ray.cluster_resources().get("GPU" if on_gpu else "CPU", 1))
    ray.data.DataContext.get_current().enable_progress_bars = False
    dataset = ray.data.from_items([asdict(chunk) for chunk in chunks], override_num_blocks=len(chunks))
    done = dataset.map_batches(
        ChunkWorker,
        fn_constructor_args=(job,),
        batch_size=1,
        compute=ray.data.ActorPoolStrategy(size=min(workers or slots, len(chunks))),
        num_gpus=1 if on_gpu else 0,
        num_cpus=0 if on_gpu else 1,
    )
    for batch in done.iter_batches(batch_size=1, prefetch_batches=0):
        progress(int(batch["n_rows"].sum()))
