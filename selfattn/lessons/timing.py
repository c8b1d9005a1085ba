"""What a loop over words costs beside one matrix product, and 100 or 1,000 words beside 10: timed here and now.

Source: nothing is quoted; the figures are this machine's, the median of several runs.
"""

import statistics
import timeit
from collections.abc import Callable

import pandas as pd
import torch

from selfattn.kernel import attend
from selfattn.lessons import typed_numbers


def race(
    lengths: tuple[int, ...] = (10, 100, 1000), d_model: int = 64, repeats: int = 15, device: str = "cpu"
) -> pd.DataFrame:
    """One row a way and length: way, words, milliseconds (median).

    "one matrix product": attend to all words at once. "attention, word by word": the same numbers, one query at a
    time. "recurrent, word by word": a state passed along, which can't be done at once.
    """
    typed_numbers.number("Repeats", repeats, 1, 100)
    rows = []
    for n in lengths:
        typed_numbers.number("Words", n, 1, 2000)
        draw = torch.Generator().manual_seed(0)
        words = torch.randn(n, d_model, generator=draw).to(device)
        matrix = torch.linalg.qr(torch.randn(d_model, d_model, generator=draw)).Q.to(device)
        ways = {
            "one matrix product": lambda words=words: attend(words, words, words),
            "attention, word by word": lambda words=words: [attend(word[None], words, words) for word in words],
            "recurrent, word by word": lambda words=words, matrix=matrix: _pass_along(words, matrix),
        }
        rows += [(way, n, _median_ms(run, repeats, device)) for way, run in ways.items()]
    return pd.DataFrame(rows, columns=["way", "words", "milliseconds"])


def _pass_along(words: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    state = torch.zeros_like(words[0])
    for word in words:
        state = torch.tanh(matrix @ state + word)
    return state


def _median_ms(run: Callable[[], object], repeats: int, device: str) -> float:
    # A GPU answers before it is done.
    wait = {"cuda": torch.cuda.synchronize, "mps": torch.mps.synchronize}.get(device.split(":")[0], lambda: None)

    def to_its_end() -> None:
        run()
        wait()

    to_its_end()
    return 1000 * statistics.median(timeit.repeat(to_its_end, number=1, repeat=repeats))
