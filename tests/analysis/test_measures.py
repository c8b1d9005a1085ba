"""Measures against plain loops and hand-made cases."""

import math

import pytest
import torch

from selfattn.analysis.measures import entropy, hide_special, rollout, similarity, special_share


def random_weights(*shape, seed=0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed)).softmax(-1)


def test_entropy_in_bits():
    weights = torch.tensor([[1.0, 0, 0, 0], [0.25, 0.25, 0.25, 0.25], [0.5, 0.5, 0, 0]])
    assert entropy(weights).tolist() == pytest.approx([0, 2, 1])
    random = random_weights(3, 7)
    expected = [-sum(p * math.log2(p) for p in row) for row in random.tolist()]
    assert entropy(random).tolist() == pytest.approx(expected, abs=1e-5)


def test_special_share_and_hiding_special_tokens_account_for_all_weight():
    weights, special = random_weights(2, 5, 5), (True, False, False, False, True)
    kept, hidden = hide_special(weights, special)
    assert kept.shape == (2, 3, 3) and hidden.shape == (2, 3)
    for h in range(2):
        for row, i in enumerate((1, 2, 3)):
            gone = weights[h, i, 0].item() + weights[h, i, 4].item()
            assert hidden[h, row].item() == pytest.approx(gone, abs=1e-6)
            assert special_share(weights, special)[h, i].item() == pytest.approx(gone, abs=1e-6)
            expected = [weights[h, i, j].item() / (1 - gone) for j in (1, 2, 3)]
            assert kept[h, row].tolist() == pytest.approx(expected, abs=1e-6)


def test_a_row_with_all_its_weight_on_special_tokens_stays_empty():
    kept, hidden = hide_special(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), (True, False))
    assert kept.tolist() == [[0.0]] and hidden.tolist() == [1.0]


def test_similarity_is_the_cosine():
    assert similarity(torch.tensor([3.0, 4.0]), torch.tensor([4.0, 3.0])).item() == pytest.approx(24 / 25)


def test_rollout_equals_plain_loops(encoder):
    encoding = encoder.encode("The bank of the river.")
    n = len(encoding.tokens)
    state = [[float(i == j) for j in range(n)] for i in range(n)]
    for layer, found in enumerate(rollout(encoding)):
        mean = sum(encoding.trace(layer, head).weights for head in range(encoder.n_heads)) / encoder.n_heads
        mixed = [[0.5 * float(mean[i, j]) + 0.5 * (i == j) for j in range(n)] for i in range(n)]
        state = [[sum(mixed[i][k] * state[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
        torch.testing.assert_close(found, torch.tensor(state), atol=1e-5, rtol=0)
