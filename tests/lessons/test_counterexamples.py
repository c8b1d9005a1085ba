"""Test the counter-examples of the lessons."""

import pytest
import torch

from selfattn.examples import NEUTRAL_SENTENCES
from selfattn.lessons import counterexamples


def test_different_weights_give_same_context():
    weights = torch.tensor([0.6, 0.2, 0.1, 0.1], dtype=torch.float64)
    values = torch.tensor([[0.5], [0.0], [1.0], [0.5]], dtype=torch.float64)
    found = counterexamples.same_output(weights, values)
    assert float(found.after[0]) == pytest.approx(0, abs=1e-9)
    assert float(found.after.sum()) == pytest.approx(1)
    assert float(found.after.min()) >= 0
    assert found.moved >= 0.6 - 1e-9
    assert found.difference < 1e-12


def test_weights_are_unique_if_values_are_independent():
    found = counterexamples.same_output(torch.tensor([0.7, 0.3]), torch.eye(2))
    assert found.moved == pytest.approx(0, abs=1e-6)


@pytest.mark.slow
def test_changed_weights_of_real_head_give_same_context(encoder):
    encoding = encoder.encode(" ".join(NEUTRAL_SENTENCES[:5]))
    _, rows = counterexamples.freest_row(encoding, 2)
    assert rows.moved > 0.2
    assert rows.difference < 1e-9


def test_attend_matches_torch_for_random_inputs():
    own, torchs = counterexamples.noise_weights()
    assert torch.equal(own.sum(1).round(decimals=5), torch.ones(8)) and float((own - torchs).abs().max()) < 1e-6
