"""Group texts of similar length into batches."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from selfattn.encoders.memory import in_halves

T, Found = TypeVar("T"), TypeVar("Found")

BATCH_TOKENS = {"cpu": 1024, "cuda": 32768, "mps": 8192}  # tokens in one pass, padding included
COPIED_TOKENS = 4096  # tokens in one pass over changed copies of a sentence


def tokens_a_pass(device: str) -> int:
    """Return how many tokens, padding included, one pass on a device may have."""
    return BATCH_TOKENS.get(device.split(":")[0], BATCH_TOKENS["cpu"])


def length_batches(items: Sequence, length: Callable, limit: int, equal: bool = False) -> Iterable[list]:
    """Yield batches of at most `limit` tokens, padding included. The longest items come first.

    An item longer than `limit` gets its own batch. equal: put only items of equal length together.
    """
    batch: list = []
    for item in sorted(items, key=length, reverse=True):
        full = batch and (len(batch) + 1) * length(batch[0]) > limit
        if full or (batch and equal and length(item) != length(batch[0])):
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


def in_passes(
    run: Callable[[Sequence[T]], list[Found]], copies: Sequence[T], n: int, progress: Callable[[int, int], None]
) -> list[Found]:
    """Run copies of one sentence (n tokens) in batches. Each copy has its own hidden tokens or changed heads."""
    size, found = max(1, COPIED_TOKENS // n), list[Found]()
    passes = [copies[start : start + size] for start in range(0, len(copies), size)]
    for done, some in enumerate(passes, start=1):
        found += in_halves(run, some)
        progress(done, len(passes))
    return found
