"""Test attention that is recomputed with another scale or mask."""

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention as sdpa

from selfattn.analysis.what_if import causal_mask, change, combine, four_ways
from selfattn.kernel import attend

TEXT = "The bank of the river was muddy."


@pytest.fixture(scope="module")
def heads(encoder, encoder_of):
    """Return three attention traces: a plain one, one with padding, and one with a position bias."""
    plain, padded = (encoder.encode(TEXT, pad_to=pad_to).trace(1, 3) for pad_to in (None, 14))
    return plain, padded, encoder_of("T5 (encoder half)").encode(TEXT).trace(1, 2)


def reference(trace, mask=None, factor=1.0):
    q, k, v = (t.double()[None, None] for t in (trace.query, trace.key, trace.value))
    mask = None if mask is None else mask.double()[None]
    return sdpa(q, k, v, attn_mask=mask, scale=trace.scale * factor)[0, 0].float()


def test_change_without_options_keeps_weights(heads):
    for real in heads:
        assert torch.equal(change(real).weights, real.weights)


def test_change_can_leave_scores_unscaled(heads):
    trace, *_ = heads
    assert trace.scale != 1
    changed = change(trace, scaling=False)
    weights = (trace.query.double() @ trace.key.double().T).softmax(-1).float()
    torch.testing.assert_close(changed.weights, weights, atol=1e-5, rtol=0)
    torch.testing.assert_close(changed.context, reference(trace, factor=1 / trace.scale), atol=1e-5, rtol=0)


@pytest.mark.parametrize("temperature", [0.25, 4.0])
def test_temperature_divides_scores(heads, temperature):
    for real in heads[::2]:
        bias = sum(term.values for term in real.terms)
        weights = (((real.query @ real.key.T).double() * real.scale + bias) / temperature).softmax(-1).float()
        torch.testing.assert_close(change(real, temperature=temperature).weights, weights, atol=1e-5, rtol=0)
    with pytest.raises(ValueError, match="above 0"):
        change(heads[0], temperature=0)


def test_causal_mask_keeps_padding_hidden(heads):
    for real in heads:
        causal = change(real, causal=True)
        mask = torch.full(real.weights.shape, -math.inf).triu(1) + sum(term.values for term in real.terms)
        if real is heads[1]:
            mask[:, len(heads[0].weights) :] = -math.inf
        torch.testing.assert_close(causal.context, reference(real, mask), atol=1e-5, rtol=1e-5)
        assert (causal.weights.triu(1) == 0).all()


def test_causal_mask_is_added_to_float_mask(heads):
    plain, n = heads[0], len(heads[0].query)
    added = torch.linspace(-2, 2, n * n).reshape(n, n)
    real = attend(plain.query, plain.key, plain.value, mask=added)
    later = torch.full((n, n), -math.inf).triu(1)
    torch.testing.assert_close(change(real, causal=True).context, reference(real, added + later), atol=1e-5, rtol=1e-5)


def test_uniform_weights_cover_only_allowed_tokens(heads):
    for real in heads:
        n, changed = int((real.weights[0] > 0).sum()), change(real, uniform=True)
        torch.testing.assert_close(changed.context[0], real.value[:n].mean(0), atol=1e-5, rtol=1e-5)
        assert float(changed.weights[0, 0]) == pytest.approx(1 / n)
    later = change(heads[0], uniform=True, causal=True)
    assert later.weights[2].tolist() == pytest.approx([1 / 3] * 3 + [0.0] * (len(later.weights) - 3))


def test_four_ways_to_hide_tokens_match_plain_loops(heads):
    for real in heads:
        n = len(real.query)
        allowed = causal_mask(n)
        added, zeroed_scores, zeroed_weights, renormalised = four_ways(real, allowed)
        hidden = torch.zeros(1, n, n).masked_fill(~combine(real.mask, allowed), -math.inf)
        mask = hidden + sum(term.values for term in real.terms)
        torch.testing.assert_close(added.weights @ real.value, reference(real, mask), atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(renormalised.weights, added.weights, atol=1e-6, rtol=1e-5)
        for i in range(n):
            row = [float(x) for x in real.masked[i]]
            powers = [math.exp(x if j <= i or x == -math.inf else 0.0) for j, x in enumerate(row)]
            expected = [power / sum(powers) for power in powers]
            assert zeroed_scores.weights[i].tolist() == pytest.approx(expected, abs=1e-5)
            assert float(zeroed_scores.leaked[i]) == pytest.approx(sum(expected[i + 1 :]), abs=1e-5)
            kept = float(real.weights[i, : i + 1].sum())
            assert float(zeroed_weights.weights[i].sum()) == pytest.approx(kept, abs=1e-6)
        assert float(added.leaked.max()) == 0
        assert float(zeroed_scores.leaked.max()) > 0.1
