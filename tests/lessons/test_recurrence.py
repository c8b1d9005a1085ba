"""Test that distance weakens signals in recurrence, but not in attention."""

from functools import partial

import pytest
import torch

from selfattn.lessons import recurrence
from selfattn.words import split_words

WORDS = split_words(recurrence.SENTENCE)


def signal(network, gain=0.9, gate=0.05, asking=18.0):
    return recurrence.signal(WORDS, 2, 7, gain, gate, asking).set_index("network").loc[network]


@pytest.mark.parametrize("gain", [0.8, 1.0, 1.3])
def test_signal_in_plain_recurrence_is_power_of_gain(gain):
    """A word's share is the length of its part of the state, divided by the sum of such lengths over all words."""
    plain = signal("plain recurrence", gain=gain)
    assert plain["gradient"].tolist() == pytest.approx([gain**step for step in range(6)])
    expected = [gain ** (step - 2) / sum(gain**back for back in range(step)) for step in range(2, 8)]
    assert plain["share"].tolist() == pytest.approx(expected)


def test_gated_recurrence_keeps_more_signal_than_plain():
    held, lost = (signal(f"{name} recurrence")["gradient"].iloc[-1] for name in ("gated", "plain"))
    assert held > lost


def test_gate_of_1_gives_plain_recurrence():
    vectors = recurrence.word_vectors(WORDS, 4)
    states = recurrence.gated(vectors, 1, 0.9, 1.0)
    turn = torch.linalg.lstsq(states[:-1], (states[1:] - vectors[1:]) / 0.9).solution
    assert torch.allclose(states[0], vectors[0]) and torch.allclose(turn @ turn.T, torch.eye(4, dtype=torch.float64))


def test_attention_ignores_distance():
    near_and_far = signal("attention", asking=8)["gradient"].tolist()
    assert near_and_far[-1] > 0.8 * near_and_far[1]
    assert signal("attention", asking=0)["gradient"].iloc[-1] < 0.2  # without training, equal weights dilute the signal


def test_attention_matches_torch():
    vectors = recurrence.word_vectors(WORDS, 4)
    query = vectors + 3 * vectors[1]
    contexts = torch.nn.functional.scaled_dot_product_attention(query[None], vectors[None], vectors[None])[0]
    network = partial(recurrence.attention, wanted=1, asking=3)
    assert torch.allclose(network(vectors), contexts)
    jacobian = torch.autograd.functional.jacobian(network, vectors)[:, :, 1]  # (n, d, d)
    assert torch.allclose(recurrence._gradients(network, vectors, 1), jacobian.flatten(1).norm(dim=1) / 2)


def test_operations_include_projections():
    found = recurrence.operations((1, 512, 1024)).pivot(index="words", columns="network", values="multiplications")
    bare = found["attention without projections"] / found["recurrent"]
    assert bare.tolist() == pytest.approx([1 / 512, 1, 2])
    assert (found["attention"] / found["recurrent"]).tolist() == pytest.approx([2 + 1 / 512, 3, 4])
    # With one word, attention computes four projections, one score and one weighted value.
    assert found.loc[1, "attention"] == 4 * 512 * 512 + 2 * 512
