"""DeBERTa's terms against the equation, entry by entry."""

import pytest
import torch

from selfattn.encoders.pair_terms import content_to_position, position_to_content, rows_of
from tests.test_kernel import random


def test_distances_meet_queries_and_keys_as_written_out_by_hand():
    """DeBERTa's equation 4, entry by entry; queries 2 ... 4 of five tokens."""
    query, key, positions = random(2, 5, 4), random(2, 5, 4, seed=1), random(2, 9, 4, seed=2)
    distance = torch.arange(5)[2:, None] - torch.arange(5) + 4
    found = content_to_position(query[:, 2:], positions, distance, 0.5)
    other = position_to_content(key, positions, distance, 0.5)
    assert found.shape == other.shape == (2, 3, 5)
    for head in range(2):
        for i in range(2, 5):
            for j in range(5):
                vector = positions[head, i - j + 4] / 2
                assert abs(float(found[head, i - 2, j] - query[head, i] @ vector)) < 1e-12
                assert abs(float(other[head, i - 2, j] - key[head, j] @ vector)) < 1e-12


@pytest.mark.parametrize("shape", [(1, 1, 1, 2), (1, 3, 2, 2), (2, 1, 1, 2), (2, 3, 2, 2), (4, 1, 5, 5)])
def test_each_tokens_row_of_a_mask_or_the_only_one(shape):
    mask, sentence, position = random(*shape), torch.tensor([1, 0, 1]), torch.tensor([1, 1, 0])
    every = mask.expand(max(shape[0], 2), -1, max(shape[2], 2), -1)
    wanted = [every[s, :, p] for s, p in zip(sentence.tolist(), position.tolist())]
    assert torch.equal(rows_of(mask, sentence, position)[:, :, 0], torch.stack(wanted))
