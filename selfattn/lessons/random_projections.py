"""From embeddings to queries, keys and values: three learned matrices, here drawn at random.

Source: S. Raschka, "Build a Large Language Model (From Scratch)", section 3.4: six made-up embeddings of "Your journey
starts with one step", projections from `torch.rand(3, 2)` after `torch.manual_seed(123)`, figures for token 2.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from selfattn.kernel import AttentionTrace, attend
from selfattn.lessons import typed_numbers

TOKENS = ("Your", "journey", "starts", "with", "one", "step")
EMBEDDINGS = (
    (0.43, 0.15, 0.89), (0.55, 0.87, 0.66), (0.57, 0.85, 0.64),
    (0.22, 0.58, 0.33), (0.77, 0.25, 0.10), (0.05, 0.80, 0.55),
)  # fmt: skip
D_HEAD = 2
SEED = 123


@dataclass(frozen=True, eq=False)
class Projected:
    """Embeddings, the three projections, and the attention that follows."""

    embeddings: Tensor  # (n, d_model)
    w_query: Tensor  # (d_model, d_head)
    w_key: Tensor  # (d_model, d_head)
    w_value: Tensor  # (d_model, d_head)
    trace: AttentionTrace  # query = embeddings @ w_query and so on


def project(embeddings: Sequence[Sequence[float]] = EMBEDDINGS, seed: int = SEED) -> Projected:
    """Project every embedding three times, then attend. The published figures are float32's, so is this."""
    tokens = typed_numbers.matrix("Embeddings", embeddings).float()
    draw = torch.Generator().manual_seed(seed)
    w_query, w_key, w_value = (torch.rand(tokens.shape[1], D_HEAD, generator=draw) for _ in range(3))
    return Projected(tokens, w_query, w_key, w_value, attend(tokens @ w_query, tokens @ w_key, tokens @ w_value))
