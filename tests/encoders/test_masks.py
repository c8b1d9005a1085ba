"""Masks: the kernel against torch's own attention in float64, for any mask; and every family's mask for any padding."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from selfattn import attend
from selfattn.encoders.capture import LayerRecording
from selfattn.encoders.pair_terms import PositionBias

SIZES = st.integers(1, 7)


@st.composite
def problems(draw):
    """query (heads, n, d), key, value, and a mask: boolean, additive, or both in one."""
    heads, n_query, n_key, d_head = draw(SIZES), draw(SIZES), draw(SIZES), draw(SIZES)
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10_000)))
    query, key, value = (
        torch.randn(heads, n, d_head, generator=generator, dtype=torch.float64) for n in (n_query, n_key, n_key)
    )
    bits = draw(st.integers(0, 2 ** (n_query * n_key) - 1))  # a list of lists takes longer to draw than to check
    allowed = torch.tensor([bool(bits >> i & 1) for i in range(n_query * n_key)]).reshape(n_query, n_key)
    kind = draw(st.sampled_from(["boolean", "hides", "biases", "none"]))
    if kind == "none":
        return query, key, value, None
    if kind == "boolean":
        return query, key, value, allowed
    mask = torch.zeros(n_query, n_key, dtype=torch.float64).masked_fill(~allowed, -torch.inf)
    if kind == "biases":
        mask = mask + torch.randn(n_query, n_key, generator=generator, dtype=torch.float64)
    return query, key, value, mask


@given(problems())
@settings(deadline=None)
@pytest.mark.slow
def test_the_kernel_equals_torch_in_float64(problem):
    query, key, value, mask = problem
    trace = attend(query, key, value, mask)
    expected = scaled_dot_product_attention(query[None], key[None], value[None], attn_mask=mask)[0]
    hidden = torch.zeros(trace.weights.shape[-2:], dtype=torch.bool)
    if mask is not None:
        hidden = ~mask if mask.dtype == torch.bool else mask == -torch.inf
    empty = hidden.all(-1)  # a row that may attend to nothing: torch's answer depends on its version, ours is zero
    torch.testing.assert_close(trace.context[:, ~empty], expected[:, ~empty], atol=1e-12, rtol=1e-9)
    assert trace.context[:, empty].abs().sum() == 0
    assert trace.weights[:, hidden].abs().sum() == 0
    sums = trace.weights.sum(-1)
    torch.testing.assert_close(sums[:, ~empty], torch.ones_like(sums[:, ~empty]))


@given(st.permutations(range(6)), st.integers(0, 100))
@settings(deadline=None)
def test_permuting_the_tokens_permutes_the_result(order, seed):
    query, key, value = torch.randn(3, 6, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    plain = attend(query, key, value).context
    moved = attend(query[order], key[order], value[order]).context
    torch.testing.assert_close(moved, plain[order], atol=1e-12, rtol=0)


def test_any_padding_leaves_the_real_tokens_alone(encoder_of):
    for name in ("BERT", "ModernBERT", "T5 (encoder half)"):
        encoder = encoder_of(name)
        alone = encoder.encode("the river bank")
        n = len(alone.tokens)
        for length in range(n, n + 12):
            padded = encoder.encode("the river bank", pad_to=length)
            for layer in range(encoder.n_layers):
                torch.testing.assert_close(
                    padded.weights(layer)[:, :n, :n], alone.weights(layer), atol=5e-6, rtol=0, msg=f"{name} {length}"
                )


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
