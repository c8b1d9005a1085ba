"""Stand-in vectors for words that no encoder has read: the same word gets the same vector, wherever it stands."""

import re
import zlib
from collections.abc import Sequence

import torch
from torch import Tensor

LONGEST = 60  # words: every one is left out in turn


def split_words(text: str) -> tuple[str, ...]:
    """The words of a sentence, punctuation left out, inner apostrophes and hyphens kept."""
    words = tuple(re.findall(r"\w+(?:['’-]\w+)*", text))
    if not 2 <= len(words) <= LONGEST:
        raise ValueError(f"Expected a sentence of 2 to {LONGEST} words, got {len(words)}. Type a sentence.")
    return words


def word_vectors(words: Sequence[str], d_model: int) -> Tensor:
    """(n, d_model) float64, each of length 1; drawn from a seed made of the lower-cased spelling."""
    rows = []
    for word in words:
        draw = torch.Generator().manual_seed(zlib.crc32(word.lower().encode()))
        row = torch.randn(d_model, generator=draw, dtype=torch.float64)
        rows.append(row / row.norm())
    return torch.stack(rows)
