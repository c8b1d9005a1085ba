"""Compare masked or biased attention with plain torch, and the terms of DeBERTa's scores with the paper's equation."""

import pytest
import torch

from selfattn.encoders.capture import LayerRecording
from selfattn.encoders.pair_terms import PositionBias, content_to_position, mask_rows, position_to_content
from tests.test_kernel import random

MASKS = {
    "none": None,
    "bool": torch.tensor([[True, True, False]]).expand(3, 3),
    "lowest number": torch.tensor([[0.0, 0.0, torch.finfo(torch.float32).min]]).expand(3, 3),
    "numbers": torch.tensor([[0.0, -1.5, 2.0], [0.5, 0.0, -3.0], [1.0, 1.0, 0.0]]),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("biased", [False, True])
def test_weights_with_mask_and_bias_match_torch(mask, biased):
    query, key, value, context = torch.randn(4, 1, 2, 3, 4, generator=torch.Generator().manual_seed(0))
    bias = torch.tensor([[[0.3, -0.2, 1.0]], [[-1.0, 0.0, 2.0]]]).expand(2, 3, 3)[None] if biased else None
    model_mask = None if MASKS[mask] is None else MASKS[mask][None, None]
    recording = LayerRecording(
        module=torch.nn.Identity(), query=query, key=key, value=value, mask=model_mask,
        terms=(PositionBias(bias),) if biased else (), scale=0.7, context=context.transpose(1, 2),
    )  # fmt: skip
    scaled = torch.einsum("hqd,hkd->hqk", query[0], key[0]) * 0.7 + (bias[0] if biased else 0)
    if model_mask is not None:
        hides = model_mask.dtype == torch.bool
        scaled = torch.where(model_mask[0], scaled, -torch.inf) if hides else scaled + model_mask[0]
    expected = scaled.softmax(-1)
    torch.testing.assert_close(recording.weights(), expected, atol=1e-6, rtol=0)
    part = recording.trace(1, slice(1, 3))
    torch.testing.assert_close(part.context, expected[1, 1:] @ value[0, 1], atol=1e-6, rtol=0)


def test_deberta_terms_equal_equation_4_of_paper():
    query, key, positions = random(2, 5, 4), random(2, 5, 4, seed=1), random(2, 9, 4, seed=2)
    distance = torch.arange(5)[2:, None] - torch.arange(5) + 4
    found = content_to_position(query[:, 2:], positions, distance, 0.5)
    other = position_to_content(key, positions, distance, 0.5)
    assert found.shape == other.shape == (2, 3, 5)
    for head in range(2):
        for i in range(2, 5):
            for j in range(5):
                vector = positions[head, i - j + 4] / 2
                assert abs(float(found[head, i - 2, j] - query[head, i] @ vector)) < 1e-12
                assert abs(float(other[head, i - 2, j] - key[head, j] @ vector)) < 1e-12


@pytest.mark.parametrize("shape", [(1, 1, 1, 2), (1, 3, 2, 2), (2, 1, 1, 2), (2, 3, 2, 2), (4, 1, 5, 5)])
def test_mask_rows_accepts_broadcastable_masks(shape):
    mask, sentence, position = random(*shape), torch.tensor([1, 0, 1]), torch.tensor([1, 1, 0])
    every = mask.expand(max(shape[0], 2), -1, max(shape[2], 2), -1)
    wanted = [every[s, :, p] for s, p in zip(sentence.tolist(), position.tolist())]
    assert torch.equal(mask_rows(mask, sentence, position)[:, :, 0], torch.stack(wanted))
