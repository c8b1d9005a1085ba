"""Attention rollout against plain loops, and its invariants."""

import pytest
import torch

from selfattn.analysis.measures import head_average, rollout


def test_rollout_equals_plain_loops(encoder):
    encoding = encoder.encode("The bank of the river.")
    n = len(encoding.tokens)
    state = [[float(i == j) for j in range(n)] for i in range(n)]
    found = rollout(encoding)
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
    assert rollout(encoding).sum(-1).flatten().tolist() == pytest.approx(
        [1.0] * encoder.n_layers * len(encoding.tokens), abs=1e-5
    )
    assert head_average(encoding, 2).sum(-1).tolist() == pytest.approx([1.0] * len(encoding.tokens), abs=1e-5)
