"""Stand-in vectors for words that no encoder has read: the same word gets the same vector, wherever it stands."""

import zlib
from collections.abc import Sequence

import torch
from torch import Tensor


def word_vectors(words: Sequence[str], d_model: int) -> Tensor:
    """(n, d_model) float64, each of length 1; drawn from a seed made of the lower-cased spelling."""
    rows = []
    for word in words:
        generator = torch.Generator().manual_seed(zlib.crc32(word.lower().encode()))
        row = torch.randn(d_model, generator=generator, dtype=torch.float64)
        rows.append(row / row.norm())
    return torch.stack(rows)
