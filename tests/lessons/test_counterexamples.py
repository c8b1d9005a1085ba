"""The counter-examples are true: same context, little share, effects that don't add up."""

import pytest
import torch

from selfattn.examples import NEUTRAL_SENTENCES
from selfattn.lessons import counterexamples


def test_other_weights_give_the_same_context():
    weights = torch.tensor([0.6, 0.2, 0.1, 0.1], dtype=torch.float64)
    values = torch.tensor([[0.5], [0.0], [1.0], [0.5]], dtype=torch.float64)
    found = counterexamples.same_output(weights, values)
    assert float(found.after[0]) == pytest.approx(0, abs=1e-9)
    assert float(found.after.sum()) == pytest.approx(1)
    assert float(found.after.min()) >= 0
    assert found.moved >= 0.6 - 1e-9
    assert found.difference < 1e-12


def test_with_independent_values_there_is_only_one_row():
    found = counterexamples.same_output(torch.tensor([0.7, 0.3]), torch.eye(2))
    assert found.moved == pytest.approx(0, abs=1e-6)


@pytest.mark.slow
def test_on_a_real_head_much_weight_moves_and_nothing_changes(encoder):
    encoding = encoder.encode(" ".join(NEUTRAL_SENTENCES[:5]))
    _, rows = counterexamples.freest_row(encoding, 2)
    assert rows.moved > 0.2
    assert rows.difference < 1e-9


def test_a_token_with_much_weight_hands_over_little(encoder):
    encoding = encoder.encode("The bank of the river was muddy after the rain.")
    found = counterexamples.much_weight_little_share(encoding, 2)
    assert found.weight > 0.8
    assert found.share < 0.1
    trace = encoding.trace(*found.head)
    assert float(trace.weights[2, found.position]) == pytest.approx(found.weight)


@pytest.mark.parametrize("position", range(1, 8))
def test_no_token_of_any_head_has_more_weight_beyond_its_share(encoder, position):
    encoding = encoder.encode("The bank of the river was muddy.")
    found = counterexamples.much_weight_little_share(encoding, position)
    beyond = []
    for head in encoder.all_heads:
        trace = encoding.trace(*head)
        context = trace.context[position]
        for weight, value in zip(trace.weights[position], trace.value):
            beyond.append(float(weight - weight * (value @ context) / (context @ context)))
    assert found.weight - found.share == pytest.approx(max(beyond), abs=1e-5)


def test_noise_is_recomputed_just_as_well():
    assert counterexamples.recomputed_noise() < 1e-5
