"""Compute a word's vectors in many sentences."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from selfattn.encoders.capture import LayerRecording
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord

BATCH = 64  # sentences in one batch


@dataclass(frozen=True, eq=False)
class WordVectors:
    """A word's vectors in n sentences, as float32 tensors on the CPU.

    If the tokeniser splits the word, its vector is the mean over the tokens.
    If heads can't be read, the last three fields have the shape (n, 0, n_heads, 0).
    """

    layers: Tensor  # (n, n_layers + 1, d_model)         the embedding output, then each layer's output
    bag: Tensor  # (n, 1, d_embedding)                   mean embedding of the other words; zeros if there are none
    context: Tensor  # (n, n_layers, n_heads, d_head)    each head's output for the word
    uniform: Tensor  # (n, n_layers, n_heads, d_head)    each head's output with equal weights
    own_value: Tensor  # (n, n_layers, n_heads, d_head)  each head's value vector of the word


def word_vectors(encoder: Encoder, words: Sequence[PlacedWord]) -> WordVectors:
    """Return the vectors of n words, each in its own sentence."""
    # Batch sentences of similar length to save padding.
    order = sorted(range(len(words)), key=lambda index: len(words[index].sentence.text))
    kept: dict[int, tuple[Tensor, ...]] = {}
    for first in range(0, len(order), BATCH):
        batch = order[first : first + BATCH]
        for index, encoding in zip(batch, encoder.encode_batch([words[index].sentence for index in batch])):
            kept[index] = _vectors(encoding, list(words[index].positions))
    return WordVectors(*(torch.stack(column) for column in zip(*(kept[index] for index in range(len(order))))))


def head_vectors(recording: LayerRecording, positions: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
    """Return `context`, `uniform` and `own_value` (see WordVectors) of one layer: (n_heads, d_head) each.

    positions: those of the word's tokens.
    """
    rows = list(positions)
    value = recording.value[0].float().cpu()
    context = recording.context[0, rows].float().cpu().mean(dim=0)
    mask = recording.kernel_mask()
    if mask is None:
        uniform = value.mean(dim=1)
    else:
        may = mask if mask.dtype == torch.bool else mask > -torch.inf
        may = may.expand(value.shape[0], value.shape[1], -1)[:, rows].float()
        uniform = (may @ value / may.sum(-1, keepdim=True).clamp_min(1)).mean(dim=1)
    return context, uniform, value[:, rows].mean(dim=1)


def _vectors(encoding: Encoding, positions: list[int]) -> tuple[Tensor, ...]:
    """Return the fields of WordVectors for one sentence."""
    layers = encoding.hidden[:, positions].mean(dim=1)
    others = [p for p, special in enumerate(encoding.special) if not special and p not in positions]
    bag = encoding.static[others].mean(dim=0) if others else torch.zeros_like(encoding.static[0])
    per_head = [head_vectors(recording, positions) for recording in encoding.recordings]
    if per_head:
        heads = tuple(torch.stack(kind) for kind in zip(*per_head))
    else:
        heads = (torch.zeros(0, encoding.n_heads, 0),) * (len(fields(WordVectors)) - 2)
    return layers, bag[None], *heads
