"""Compare recurrence and attention: a word's effect on later states, the number of multiplications, and the time.

Sources: Bengio, Simard and Frasconi 1994; Cho et al. 2014 (gates); Vaswani et al. 2017, table 1.
"""

import statistics
import timeit
import zlib
from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd
import torch
from torch import Tensor

from selfattn.kernel import attend

SENTENCE = "The bank approved the loan because it was well-capitalized."
LONG_SENTENCE = (
    "The cat, which was chased by the neighbor's massive, loud, and energetic dog that always escapes its yard, "
    "ran up the tree."
)
D_STATE = 16

Network = Callable[[Tensor], Tensor]  # word vectors (..., n, d) to states (..., n, d)


def operations(lengths: Sequence[int], d_model: int = 512) -> pd.DataFrame:
    """Count the multiplications in one layer, for each number of words and each network.

    Recurrent: two d x d products per word
    Attention: scores and weighted values (as in table 1 of Vaswani et al.), and four d x d projections per word
    """
    rows = []
    for n in lengths:
        mixing, matrix = 2 * n * n * d_model, n * d_model**2
        counts = {"recurrent": 2 * matrix, "attention without projections": mixing, "attention": mixing + 4 * matrix}
        rows += [(n, *counted) for counted in counts.items()]
    return pd.DataFrame(rows, columns=["words", "network", "multiplications"])


def signal(words: Sequence[str], start: int, stop: int, gain: float, gate: float, asking: float) -> pd.DataFrame:
    """Measure the effect of word `start` on each state up to word `stop` (both counted from 1) in three networks.

    gain, gate: as in `gated`. asking: as in `attention`. Columns of the result:
    gradient: effect of a small change of word `start` on each word's state (norm of the Jacobian / square root of the width)
    share: how far each state moves if word `start` is set to 0, divided by the sum of its moves for each word set to 0 in turn
    """
    source = start - 1
    networks: dict[str, Network] = {
        "plain recurrence": partial(gated, wanted=source, gain=gain, gate=1.0),
        "gated recurrence": partial(gated, wanted=source, gain=gain, gate=gate),
        "attention": partial(attention, wanted=source, asking=asking),
    }
    vectors, span = word_vectors(words, D_STATE), slice(source, stop)
    rows = []
    for name, network in networks.items():
        contributions = _contributions(network, vectors)
        share = contributions[source] / contributions.sum(0)
        gradient = _gradients(network, vectors, source)
        steps = zip(range(start, stop + 1), words[span], gradient[span].tolist(), share[span].tolist(), strict=True)
        rows += [(name, *row) for row in steps]
    return pd.DataFrame(rows, columns=["network", "step", "word", "gradient", "share"])


def word_vectors(words: Sequence[str], d_model: int) -> Tensor:
    """Return a random unit vector for each word, (n, d_model) float64.

    A word always has the same vector, in any letter case.
    """
    seeds = (torch.Generator().manual_seed(zlib.crc32(word.lower().encode())) for word in words)
    rows = torch.stack([torch.randn(d_model, generator=seed, dtype=torch.float64) for seed in seeds])
    return rows / rows.norm(dim=1, keepdim=True)


def gated(vectors: Tensor, wanted: int, gain: float, gate: float) -> Tensor:
    """Return the state after each word: state = (1 - z) * state + z * (gain * R state + word).

    R is a rotation. z is 1 at word `wanted` (counted from 0), and `gate` at other words.
    """
    draw = torch.Generator().manual_seed(7)
    turn = torch.linalg.qr(torch.randn(vectors.shape[-1], vectors.shape[-1], generator=draw, dtype=torch.float64)).Q
    state, states = torch.zeros_like(vectors[..., 0, :]), []
    for place, word in enumerate(vectors.unbind(-2)):
        opening = 1.0 if place == wanted else gate
        state = (1 - opening) * state + opening * (gain * (state @ turn) + word)
        states.append(state)
    return torch.stack(states, dim=-2)


def attention(vectors: Tensor, wanted: int, asking: float) -> Tensor:
    """Return each word's context. The word vectors serve as queries, keys and values.

    asking: a factor; asking * vectors[wanted] is added to every query
    """
    query = vectors + asking * vectors[..., wanted, None, :].detach()
    return attend(query, vectors, vectors).context


def _gradients(network: Network, vectors: Tensor, source: int) -> Tensor:
    """Return the norm of each state's derivative with respect to word `source`'s vector, over √d: (n,)."""

    def states(word: Tensor) -> Tensor:
        return network(torch.cat([vectors[:source], word[None], vectors[source + 1 :]]))

    jacobian = torch.autograd.functional.jacobian(states, vectors[source], vectorize=True)  # (n, d, d)
    return jacobian.flatten(1).norm(dim=1) / vectors.shape[1] ** 0.5


def _contributions(network: Network, vectors: Tensor) -> Tensor:
    """Return how far each state (column) moves if one word (row) is set to 0: (n, n)."""
    without = vectors * (1 - torch.eye(len(vectors), dtype=vectors.dtype))[:, :, None]
    return (network(vectors) - network(without)).norm(dim=-1)


def race(
    lengths: Sequence[int] = (10, 100, 1000), d_model: int = 64, repeats: int = 15, device: str = "cpu"
) -> pd.DataFrame:
    """Time attention as one matrix product, attention word by word, and a recurrence.

    The column milliseconds has the median of `repeats` runs.
    """
    rows = []
    for n in lengths:
        draw = torch.Generator().manual_seed(0)
        words = torch.randn(n, d_model, generator=draw).to(device)
        matrix = torch.linalg.qr(torch.randn(d_model, d_model, generator=draw)).Q.to(device)
        ways = {
            "one matrix product": partial(attend, words, words, words),
            "attention, word by word": partial(_one_by_one, words),
            "recurrent, word by word": partial(_pass_along, words, matrix),
        }
        for way, run in ways.items():
            seconds = timeit.repeat(partial(_to_its_end, run, device), number=1, repeat=1 + repeats)[1:]
            rows.append((way, n, 1000 * statistics.median(seconds)))
    return pd.DataFrame(rows, columns=["way", "words", "milliseconds"])


def _one_by_one(words: Tensor) -> None:
    for word in words:
        attend(word[None], words, words)


def _pass_along(words: Tensor, matrix: Tensor) -> None:
    state = torch.zeros_like(words[0])
    for word in words:
        state = torch.tanh(matrix @ state + word)


def _to_its_end(run: Callable[[], object], device: str) -> None:
    run()
    if device != "cpu":  # the call returns before the GPU has finished
        torch.accelerator.synchronize(device)
