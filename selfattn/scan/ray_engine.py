"""Scan the parts of the input with Ray, on many workers of a machine or cluster.

If a worker dies, Ray repeats the worker's part.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from selfattn.encoders.encoder import Encoder
from selfattn.encoders.loading import choose_device
from selfattn.scan.job import Job, Part, Progress, check_same, scan_part
from selfattn.scan.output import ScanError, read_scan


def ray_engine(address: str | None = None, workers: int | None = None) -> Callable:
    """Return an `engine` for `job.run`: a function that scans a job's parts with Ray.

    Without `address`, Ray starts on this machine. Raises ScanError if Ray isn't installed.
    """
    try:
        import ray
    except ImportError:
        raise ScanError('--engine ray needs Ray. Install it with pip install "selfattn[ray]".') from None

    def engine(job: Job, encoder: Encoder, parts: Iterator[Part], progress: Progress) -> None:
        started = not ray.is_initialized()
        if started:
            try:
                ray.init(address=address, log_to_driver=False, configure_logging=True, logging_level="error")
            except ConnectionError as error:
                raise ScanError(f"Can't connect to a Ray cluster at {address!r}: {error}") from None
        try:
            _run(ray, job, encoder.device, parts, workers, progress)
        finally:
            if started:
                ray.shutdown()

    return engine


class PartWorker:
    """A worker that loads the encoder once and scans parts of the input."""

    def __init__(self, job: Job):
        self._job = job

    @cached_property
    def _encoder(self) -> Encoder:
        import torch

        if choose_device(self._job.device) == "cpu":
            torch.set_num_threads(1)  # a worker has one core
        encoder = self._job.load()
        # This machine's copy of the encoder may differ from the scan's encoder.
        check_same(read_scan(self._job.output), {"content": encoder.content})
        return encoder

    def scan(self, part: Part) -> int:
        """Scan one part of the input, and return the part's number of rows. Raises ScanError."""
        scan_part(self._job, self._encoder, part)
        return len(part[1])


def _run(ray: Any, job: Job, device: str, parts: Iterator[Part], workers: int | None, progress: Progress) -> None:
    on_gpu = device.split(":")[0] == "cuda"
    slots = max(1, int(ray.cluster_resources().get("GPU" if on_gpu else "CPU", 1)))
    one_each = {"num_gpus": 1, "num_cpus": 0} if on_gpu else {"num_cpus": 1}
    worker = ray.remote(max_restarts=-1, max_task_retries=-1, **one_each)(PartWorker)
    free = [worker.remote(job) for _ in range(min(workers or slots, slots))]  # without a slot, a worker waits forever
    busy: dict[Any, Any] = {}  # busy workers, by the future of their part

    def wait_for_one() -> None:
        (done, *_), _ = ray.wait(list(busy))
        progress(ray.get(done))
        free.append(busy.pop(done))

    for part in parts:
        if not free:
            wait_for_one()
        chosen = free.pop()
        busy[chosen.scan.remote(part)] = chosen
    while busy:
        wait_for_one()
