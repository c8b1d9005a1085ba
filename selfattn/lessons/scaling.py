"""Why the scores are divided by sqrt(d_k): measured on random vectors, with and without.

Source: Vaswani et al. 2017, section 3.2.1 and its footnote 4: the dot product of two vectors whose d_k components are
independent with mean 0 and variance 1 has mean 0 and variance d_k.
"""

import math
from collections.abc import Sequence

import pandas as pd
import torch
from torch import Tensor

from selfattn.kernel import attend
from selfattn.lessons import typed_numbers

DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
N_KEYS = 32
N_QUERIES = 256


def measure(depths: Sequence[int] = DEPTHS, n_keys: int = N_KEYS, seed: int = 0) -> pd.DataFrame:
    """Two rows a depth: d_k, scaled (True = divided by sqrt d_k), variance, entropy, gradient, largest.

    variance: of the scores that softmax receives. entropy: of a row of weights, as a share of log(n_keys), 1 = even.
    gradient: the Frobenius norm of the softmax's Jacobian, how far a change of scores moves the weights.
    largest: the largest weight of a row. The last three are means over the rows.
    """
    typed_numbers.number("Number of keys", n_keys, 2, 1024)
    rows = []
    for depth in depths:
        typed_numbers.number("d_k", depth, 1, 4096)
        draw = torch.Generator().manual_seed(seed)
        query = torch.randn(N_QUERIES, depth, generator=draw, dtype=torch.float64)
        key = torch.randn(n_keys, depth, generator=draw, dtype=torch.float64)
        for scaled, scale in ((False, 1.0), (True, 1 / math.sqrt(depth))):
            trace = attend(query, key, key, scale=scale)
            weights = trace.weights
            of_rows = {"entropy": evenness(weights), "gradient": jacobian_norm(weights), "largest": weights.amax(-1)}
            means = {name: float(each.mean()) for name, each in of_rows.items()}
            rows.append({"d_k": depth, "scaled": scaled, "variance": float(trace.scaled.var()), **means})
    return pd.DataFrame(rows)


def three_ways(scores: Sequence[float], d_k: int) -> dict[str, list[float]]:
    """A row of weights where the scores are divided by sqrt(d_k), left alone, or (a slip seen in print) multiplied by it."""
    key = typed_numbers.vector("Scores", scores)[:, None]
    root, one = math.sqrt(d_k), torch.ones(1, 1, dtype=torch.float64)  # a query of 1: each score is its key
    scales = {"divided": 1 / root, "left alone": 1.0, "multiplied": root}
    return {way: attend(one, key, key, scale=scale).weights[0].tolist() for way, scale in scales.items()}


def jacobian_norm(weights: Tensor) -> Tensor:
    """The Frobenius norm of diag(w) - w w^T, the softmax's Jacobian, for each row of weights (..., n) -> (...)."""
    squares, cubes = weights.square().sum(-1), weights.pow(3).sum(-1)
    return (squares - 2 * cubes + squares.square()).clamp_min(0).sqrt()


def evenness(weights: Tensor) -> Tensor:
    """The entropy of each row of weights (..., n) as a share of log(n): 1 = all equal, 0 = one takes everything."""
    return torch.special.entr(weights).sum(-1) / math.log(weights.shape[-1])


def absorbed() -> float:
    """The largest difference between scaling the scores and shrinking the query's projection by the same factor."""
    query, key = torch.randn(2, 8, 48, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    scaled = attend(query, key, key).weights
    shrunk = attend(query / math.sqrt(48), key, key, scale=1.0).weights
    return float((scaled - shrunk).abs().max())
