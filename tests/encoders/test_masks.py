"""Masks: any padding leaves the real tokens alone, and what was recorded of a mask is weighed as torch does."""

import pytest
import torch

from selfattn.encoders.capture import LayerRecording
from selfattn.encoders.pair_terms import PositionBias

MASKS = {
    "none": None,
    "bool": torch.tensor([[True, True, False]]).expand(3, 3),
    "lowest number": torch.tensor([[0.0, 0.0, torch.finfo(torch.float32).min]]).expand(3, 3),
    "numbers": torch.tensor([[0.0, -1.5, 2.0], [0.5, 0.0, -3.0], [1.0, 1.0, 0.0]]),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("biased", [False, True])
def test_mask_and_position_bias_add_up_as_in_torch(mask, biased):
    query, key, value, context = torch.randn(4, 1, 2, 3, 4, generator=torch.Generator().manual_seed(0))
    bias = torch.tensor([[[0.3, -0.2, 1.0]], [[-1.0, 0.0, 2.0]]]).expand(2, 3, 3)[None] if biased else None
    model_mask = None if MASKS[mask] is None else MASKS[mask][None, None]
    recording = LayerRecording(
        module=torch.nn.Identity(), query=query, key=key, value=value, mask=model_mask,
        terms=(PositionBias(bias),) if biased else (), scale=0.7,
        context=context.transpose(1, 2),
    )  # fmt: skip
    scaled = torch.einsum("hqd,hkd->hqk", query[0], key[0]) * 0.7 + (bias[0] if biased else 0)
    if model_mask is not None:
        hides = model_mask.dtype == torch.bool
        scaled = torch.where(model_mask[0], scaled, -torch.inf) if hides else scaled + model_mask[0]
    expected = scaled.softmax(-1)
    torch.testing.assert_close(recording.weights(), expected, atol=1e-6, rtol=0)
    torch.testing.assert_close(
        recording.trace(1, slice(1, 3)).context, expected[1, 1:] @ value[0, 1], atol=1e-6, rtol=0
    )
