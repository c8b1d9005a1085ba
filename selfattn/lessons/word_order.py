"""Word order: without positions, shuffling the words only shuffles the vectors; by hand and in an encoder.

Source: Vaswani et al. 2017, section 3.5 (why positions are added); Lee et al. 2019, "Set Transformer", property 1
(self-attention is permutation equivariant). In an encoder with absolute position embeddings, equal positions add the
same vector to every token.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from selfattn.analysis.measures import similarity
from selfattn.encoders.encoder import Encoder
from selfattn.kernel import AttentionTrace, attend
from selfattn.lessons.encoded_words import first_word
from selfattn.lessons.stand_in_vectors import word_vectors

SENTENCE = ("dog", "bites", "man")


@dataclass(frozen=True, eq=False)
class Shuffled:
    """The same words in one order and in reverse."""

    first: AttentionTrace
    second: AttentionTrace
    difference: float  # largest difference between a word's context in one order and in the other


@dataclass(frozen=True)
class OrderCheck:
    """One word's last vector in a sentence, beside its vector in the same words in another order."""

    with_positions: float  # cosine
    without_positions: float  # cosine
    difference_without: float  # largest difference of a number


def shuffle(tokens: Sequence[str] = SENTENCE, positions: bool = False, d_model: int = 8) -> Shuffled:
    """Attend over the words as they are and in reverse; positions: add a vector to each place before projecting."""
    words = word_vectors(tokens, d_model)
    # Half as long as a word: longer ones decide the scores alone, and a row has one weight.
    places = 0.5 * normalize(_random(1, len(tokens), d_model), dim=-1) if positions else torch.zeros_like(words)
    first, second = _attend(words + places), _attend(words.flip(0) + places)
    difference = float((first.context.flip(0) - second.context).abs().max())
    return Shuffled(first, second, difference)


def compare_orders(encoder: Encoder, first: str, second: str, word: str) -> OrderCheck:
    """Run both sentences with the encoder's positions and with position 0 for every token.

    `word` must be in both. ValueError where the encoder takes no positions, or the sentences differ in their tokens.
    """
    encodings = [encoder.encode(text) for text in (first, second)]
    if sorted(encodings[0].ids) != sorted(encodings[1].ids):
        raise ValueError(
            "Expected the same tokens in both sentences, in another order. This tokeniser splits them apart."
        )
    places = [list(first_word(encoding, word).positions) for encoding in encodings]
    usual = [encoding.vector(encoding.n_layers, place) for encoding, place in zip(encodings, places)]
    same = [_at_position_0(encoder, encoding.ids)[place].mean(0) for encoding, place in zip(encodings, places)]
    return OrderCheck(float(similarity(*usual)), float(similarity(*same)), float((same[0] - same[1]).abs().max()))


def _attend(states: Tensor) -> AttentionTrace:
    d_model = states.shape[1]
    query, key, value = (states @ projection for projection in _random(0, 3, d_model, d_model))
    return attend(query, key, value)


def _random(seed: int, *shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def _at_position_0(encoder: Encoder, ids: tuple[int, ...]) -> Tensor:
    """The last hidden state (n, d_model) of one run in which every token stands at position 0."""
    row = torch.tensor([ids], device=encoder.device)
    try:
        with torch.no_grad():
            output = encoder.model(
                input_ids=row, attention_mask=torch.ones_like(row), position_ids=torch.zeros_like(row)
            )
    except TypeError:
        raise ValueError(
            "This encoder takes no positions from outside, so they can't be set to one and the same."
        ) from None
    return output.last_hidden_state[0].float().cpu()
