"""Test attention computed in double precision, and the rounding of its steps to single precision."""

import pytest
import torch

from selfattn.encoders.precision import attend_precisely
from selfattn.kernel import attend, rounded
from selfattn.kernel_inputs import Term
from tests.test_kernel import random


@pytest.mark.parametrize("mask", [None, random(5, 5, seed=3), random(5, 5, seed=3) > 0], ids=["none", "float", "bool"])
def test_rounding_keeps_boolean_mask(mask):
    double = attend(random(5, 4), random(5, 4, seed=1), random(5, 4, seed=2), mask, terms=[Term("bias", random(5, 5))])
    single = rounded(double, torch.float32)
    for name, step in vars(double).items():
        if isinstance(step, torch.Tensor):
            assert getattr(single, name).dtype == (torch.bool if step.dtype == torch.bool else torch.float32)
            assert torch.equal(getattr(single, name), step if step.dtype == torch.bool else step.float())
    assert single.scale == double.scale
    assert torch.equal(single.terms[0].values, random(5, 5).float())


def test_large_attention_map_uses_single_precision(monkeypatch):
    query, key, value = (random(6, 4, seed=s).float() for s in range(3))
    exact = attend(query.double(), key.double(), value.double())
    assert torch.equal(attend_precisely(query, key, value).context, exact.context)
    monkeypatch.setattr("selfattn.encoders.precision.MOST_IN_DOUBLE", 35)
    assert torch.equal(attend_precisely(query, key, value).context, attend(query, key, value).context)
    monkeypatch.setattr("selfattn.encoders.precision.MOST_IN_DOUBLE", 36)
    assert torch.equal(attend_precisely(query, key, value).context, exact.context)
