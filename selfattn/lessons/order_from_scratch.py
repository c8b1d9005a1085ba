"""Order: without positions, shuffling the words only shuffles the rows (system S20).

Source: Vaswani et al. 2017, section 3.5 (why positions are added); Lee et al. 2019, "Set Transformer", property 1
(self-attention is permutation equivariant).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from selfattn.kernel import AttentionTrace, attend
from selfattn.lessons.stand_in_vectors import word_vectors

SENTENCE = ("dog", "bites", "man")
ORDER = (2, 1, 0)


@dataclass(frozen=True, eq=False)
class Shuffled:
    """The same words in two orders."""

    tokens: tuple[str, ...]
    shuffled_tokens: tuple[str, ...]
    first: AttentionTrace
    second: AttentionTrace
    difference: float  # largest difference between a word's context in one order and in the other


def shuffle(
    tokens: Sequence[str] = SENTENCE, order: Sequence[int] = ORDER, positions: bool = False, d_model: int = 8
) -> Shuffled:
    """Attend over the words in both orders; positions: add a vector to each place before projecting."""
    if sorted(order) != list(range(len(tokens))) or not len(tokens):
        wanted = f"each of 0 to {len(tokens) - 1} once"
        raise ValueError(f"Expected an order that names {wanted}, got {tuple(order)}. Give a permutation.")
    words = word_vectors(tokens, d_model)
    places = _places(len(tokens), d_model) if positions else torch.zeros_like(words)
    index = torch.tensor(order)
    first, second = _attend(words + places), _attend(words[index] + places)
    difference = float((first.context[index] - second.context).abs().max())
    return Shuffled(tuple(tokens), tuple(tokens[place] for place in order), first, second, difference)


def _attend(states: Tensor) -> AttentionTrace:
    draw = torch.Generator().manual_seed(0)
    d_model = states.shape[1]
    projections = [torch.randn(d_model, d_model, generator=draw, dtype=torch.float64) for _ in range(3)]
    query, key, value = (states @ projection for projection in projections)
    return attend(query, key, value)


def _places(n: int, d_model: int) -> Tensor:
    draw = torch.Generator().manual_seed(1)
    return torch.randn(n, d_model, generator=draw, dtype=torch.float64)
