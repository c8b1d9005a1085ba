"""Order on a real encoder: give every token the same position, and shuffling the words only shuffles the vectors (S20).

Source: as `selfattn.lessons.order_from_scratch`; with absolute position embeddings, equal positions add the same vector to all.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from selfattn.encoders.encoder import Encoder


@dataclass(frozen=True)
class OrderCheck:
    """How alike a word's last vector is in a sentence and in the same words in another order."""

    with_positions: float  # cosine
    without_positions: float  # cosine
    difference_without: float  # largest difference of a number


def compare_orders(encoder: Encoder, first: str, second: str, word: str) -> OrderCheck:
    """Run both sentences with the encoder's positions and with position 0 for every token.

    `word` must be in both. ValueError where the encoder takes no positions, or the sentences differ in their tokens.
    """
    ids = [encoder.tokenize(text).ids for text in (first, second)]
    if sorted(ids[0]) != sorted(ids[1]):
        raise ValueError(
            "Expected the same tokens in both sentences, in another order. This tokeniser splits them apart."
        )
    places = [_place(encoder, text, word) for text in (first, second)]
    usual = [_last(encoder, row, None)[place] for row, place in zip(ids, places)]
    alike = [_last(encoder, row, torch.zeros(1, len(row), dtype=torch.long))[place] for row, place in zip(ids, places)]
    return OrderCheck(_cosine(*usual), _cosine(*alike), float((alike[0] - alike[1]).abs().max()))


def _last(encoder: Encoder, ids: tuple[int, ...], positions: Tensor | None) -> Tensor:
    """The last hidden state (n, d_model) of one run."""
    given = {} if positions is None else {"position_ids": positions.to(encoder.device)}
    row = torch.tensor([ids], device=encoder.device)
    try:
        with torch.no_grad():
            output = encoder.model(input_ids=row, attention_mask=torch.ones_like(row), **given)
    except TypeError:
        raise ValueError(
            "This encoder takes no positions from outside, so they can't be set to one and the same."
        ) from None
    return output.last_hidden_state[0].float().cpu()


def _place(encoder: Encoder, text: str, word: str) -> int:
    found = [found.start for found in encoder.encode(text).words if found.text.lower() == word.lower()]
    if not found:
        raise ValueError(f"Expected the word {word!r} in both sentences. Choose a word that stands there.")
    return found[0]


def _cosine(first: Tensor, second: Tensor) -> float:
    return float(torch.nn.functional.cosine_similarity(first.double(), second.double(), dim=0))
