"""Attention rollout against plain loops, and its invariants."""

import pytest
import torch

from selfattn.analysis.attention_rollout import head_average, roll_out, rollout


def test_rollout_of_two_hand_made_layers():
    first = torch.tensor([[0.0, 1.0], [0.5, 0.5]])
    second = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    after_one, after_two = rollout([first, second])
    # half the attention, half the token itself
    assert after_one.tolist() == [[0.5, 0.5], [0.25, 0.75]]
    # row 1 of layer 2: half of what token 0 was, half of what token 1 was
    assert after_two.tolist() == [[0.5, 0.5], [0.375, 0.625]]


def test_rollout_equals_plain_loops(encoder):
    encoding = encoder.encode("The bank of the river.")
    n = len(encoding.tokens)
    state = [[float(i == j) for j in range(n)] for i in range(n)]
    found = roll_out(encoding)
    for layer in range(encoder.n_layers):
        weights = encoding.weights(layer)
        mean = [
            [sum(float(weights[h, i, j]) for h in range(encoder.n_heads)) / encoder.n_heads for j in range(n)]
            for i in range(n)
        ]
        mixed = [[0.5 * mean[i][j] + 0.5 * (i == j) for j in range(n)] for i in range(n)]
        state = [[sum(mixed[i][k] * state[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
        torch.testing.assert_close(found[layer], torch.tensor(state), atol=1e-5, rtol=0)


def test_rows_sum_to_one(encoder):
    encoding = encoder.encode("The bank approved the loan.")
    assert roll_out(encoding).sum(-1).flatten().tolist() == pytest.approx(
        [1.0] * encoder.n_layers * len(encoding.tokens), abs=1e-5
    )
    assert head_average(encoding, 2).sum(-1).tolist() == pytest.approx([1.0] * len(encoding.tokens), abs=1e-5)
