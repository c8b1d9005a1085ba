"""In a recurrent network, a signal fades or grows with distance. In attention, distance doesn't matter."""

from functools import partial

import pytest
import torch

from selfattn.lessons import recurrence
from selfattn.words import split_words

WORDS = split_words(recurrence.SENTENCE)


def signal(network, gain=0.9, gate=0.05, asking=18.0):
    return recurrence.signal(WORDS, 2, 7, gain, gate, asking).set_index("network").loc[network]


@pytest.mark.parametrize("gain", [0.8, 1.0, 1.3])
def test_gradients_and_shares_of_the_plain_network_follow_the_gain(gain):
    """A word's share is the length of its vector, divided by the sum of all lengths. Each step multiplies lengths by the gain."""
    plain = signal("plain recurrence", gain=gain)
    assert plain["gradient"].tolist() == pytest.approx([gain**step for step in range(6)])
    expected = [gain ** (step - 2) / sum(gain**back for back in range(step)) for step in range(2, 8)]
    assert plain["share"].tolist() == pytest.approx(expected)


def test_a_gate_keeps_a_signal_that_the_plain_network_loses():
    held, lost = (signal(f"{name} recurrence")["gradient"].iloc[-1] for name in ("gated", "plain"))
    assert held > lost


def test_the_network_with_a_gate_of_one_equals_the_plain_network():
    vectors = recurrence.word_vectors(WORDS, 4)
    states = recurrence.gated(vectors, 1, 0.9, 1.0)
    turn = torch.linalg.lstsq(states[:-1], (states[1:] - vectors[1:]) / 0.9).solution
    assert torch.allclose(states[0], vectors[0]) and torch.allclose(turn @ turn.T, torch.eye(4, dtype=torch.float64))


def test_attention_has_similar_gradients_for_near_and_far_words():
    near_and_far = signal("attention", asking=8)["gradient"].tolist()
    assert near_and_far[-1] > 0.8 * near_and_far[1]
    assert signal("attention", asking=0)["gradient"].iloc[-1] < 0.2  # without training, equal weights dilute the signal


def test_attention_and_its_gradients_equal_those_of_torch():
    vectors = recurrence.word_vectors(WORDS, 4)
    query = vectors + 3 * vectors[1]
    contexts = torch.nn.functional.scaled_dot_product_attention(query[None], vectors[None], vectors[None])[0]
    network = partial(recurrence.attention, wanted=1, asking=3)
    assert torch.allclose(network(vectors), contexts)
    jacobian = torch.autograd.functional.jacobian(network, vectors)[:, :, 1]  # (n, d, d)
    assert torch.allclose(recurrence._gradients(network, vectors, 1), jacobian.flatten(1).norm(dim=1) / 2)


def test_operations_of_attention_include_its_projections():
    found = recurrence.operations((1, 512, 1024)).pivot(index="words", columns="network", values="multiplications")
    bare = found["attention without projections"] / found["recurrent"]
    assert bare.tolist() == pytest.approx([1 / 512, 1, 2])
    assert (found["attention"] / found["recurrent"]).tolist() == pytest.approx([2 + 1 / 512, 3, 4])
    # One word: W_Q, W_K, W_V and W_O, each d x d; one score and one weighted value of width d.
    assert found.loc[1, "attention"] == 4 * 512 * 512 + 2 * 512
