"""A folder that nobody vouches for beside one that is trusted: opening it, and reading a text."""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.base_size import saved
from benchmarks.table import Row, compare, duration
from selfattn import load_encoder
from selfattn.encoders import checkpoint, loading
from selfattn.encoders.families import FAMILIES, save_tiny

TITLE = "A process with bounds"
COLUMNS = ("in a process first", "trusted")
ROUNDS = 5
TEXTS = 500


def main() -> Iterator[Row]:
    """The helper's own start, once; then both ways of loading in turn, nothing known of the folder beforehand."""
    with tempfile.TemporaryDirectory() as folder:
        tiny = save_tiny(FAMILIES["BERT"], Path(folder) / "tiny")
        large = saved(Path(folder) / "base")
        start = time.perf_counter()
        load_encoder(str(tiny), device="cpu")
        first = time.perf_counter() - start
        yield Row("the first load, the helper's imports included", duration(first), "", None, 1)
        for name, path in (("a tiny encoder", str(tiny)), ("a base-size encoder", large)):
            yield compare(f"loading {name}", _loads(path, False), _loads(path, True), ROUNDS)
        isolated, trusted = (_reads(load_encoder(str(tiny), device="cpu", trusted=t)) for t in (False, True))
        yield compare(f"reading {TEXTS} texts", isolated, trusted, ROUNDS)


def _loads(path: str, trusted: bool) -> Callable[[], object]:
    def load() -> None:
        loading._found.clear()
        checkpoint._digests.clear()
        load_encoder(path, device="cpu", trusted=trusted)

    return load


def _reads(encoder) -> Callable[[], object]:
    return lambda: [encoder.tokenize(f"The bank of the river {number}.") for number in range(TEXTS)]
