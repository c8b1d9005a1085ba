"""What-if changes of a real head, against torch code that shares nothing with the kernel."""

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention as sdpa

from selfattn.analysis.what_if import causal_mask, change, combine, four_ways

TEXT = "The bank of the river was muddy."


@pytest.fixture(scope="module")
def trace(encoder):
    return encoder.encode(TEXT).trace(1, 3)


@pytest.fixture(scope="module")
def padded(encoder):
    return encoder.encode(TEXT, pad_to=14).trace(1, 3)


@pytest.fixture(scope="module")
def biased(encoder_of):
    t5 = encoder_of("T5 (encoder half)")
    return t5.encode(TEXT).trace(1, 2)


def reference(trace, mask=None, factor=1.0):
    q, k, v = (t.double()[None, None] for t in (trace.query, trace.key, trace.value))
    mask = None if mask is None else mask[None] if mask.dtype == torch.bool else mask.double()[None]
    return sdpa(q, k, v, attn_mask=mask, scale=trace.scale * factor)[0, 0].float()


def test_nothing_changed_is_the_head_itself(trace, padded, biased):
    for real in (trace, padded, biased):
        assert torch.equal(change(real).weights, real.weights)


def test_no_scaling(trace):
    assert trace.scale != 1
    changed = change(trace, scaling=False)
    weights = (trace.query.double() @ trace.key.double().T).softmax(-1).float()
    torch.testing.assert_close(changed.weights, weights, atol=1e-5, rtol=0)
    torch.testing.assert_close(changed.context, reference(trace, factor=1 / trace.scale), atol=1e-5, rtol=0)


@pytest.mark.parametrize("temperature", [0.25, 4.0])
def test_temperature(trace, biased, temperature):
    for real in (trace, biased):
        bias = sum(term.values for term in real.terms)
        logits = ((real.query @ real.key.T).double() * real.scale + bias) / temperature
        torch.testing.assert_close(
            change(real, temperature=temperature).weights, logits.softmax(-1).float(), atol=1e-5, rtol=0
        )
        with pytest.raises(ValueError, match="above 0"):
            change(real, temperature=0)


def test_causal(trace):
    changed = change(trace, causal=True)
    q, k, v = (t[None, None] for t in (trace.query, trace.key, trace.value))
    expected = sdpa(q, k, v, is_causal=True, scale=trace.scale)[0, 0]
    torch.testing.assert_close(changed.context, expected, atol=1e-5, rtol=1e-5)
    assert all(changed.weights[i, j] == 0 for i in range(len(q[0, 0])) for j in range(i + 1, len(q[0, 0])))


def test_causal_keeps_the_padding_hidden_and_the_position_bias(padded, biased):
    assert (change(padded, causal=True).weights[:, -3:] == 0).all()
    n = len(biased.query)
    hidden = torch.full((n, n), -math.inf).triu(1)
    torch.testing.assert_close(
        change(biased, causal=True).context, reference(biased, biased.terms[0].values + hidden), atol=1e-5, rtol=1e-5
    )


def test_uniform_weights_spread_over_what_may_be_looked_at(trace, padded, biased):
    for real, n in (
        (trace, len(trace.query)),
        (padded, int((padded.weights[0] > 0).sum())),
        (biased, len(biased.query)),
    ):
        changed = change(real, uniform=True)
        torch.testing.assert_close(changed.context[0], real.value[:n].mean(0), atol=1e-5, rtol=1e-5)
        assert float(changed.weights[0, 0]) == pytest.approx(1 / n)
    later = change(trace, uniform=True, causal=True)
    assert later.weights[2].tolist() == pytest.approx([1 / 3] * 3 + [0.0] * (len(trace.query) - 3))


def test_four_ways_to_mask(trace, padded, biased):
    for real in (trace, padded, biased):
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
            assert float(zeroed_weights.weights[i].sum()) == pytest.approx(
                float(real.weights[i, : i + 1].sum()), abs=1e-6
            )
        assert float(added.leaked.max()) == 0
        assert float(zeroed_scores.leaked.max()) > 0.1
