"""Measures of heads against plain loops on random weights, and the named patterns on heads made to fit them."""

import math
from types import SimpleNamespace

import pytest
import torch

from selfattn.analysis.measures import head_measures, mean_distance, row_measures
from selfattn.analysis.patterns import fits

TEXT = "The bank, of the river, was muddy."


@pytest.fixture(scope="module")
def encoding(encoder):
    return encoder.encode(TEXT)


def loops(weights, special):
    """All measures of one head by plain loops over lists."""
    n = len(special)
    rows = [i for i in range(n) if not special[i]]
    sums = {"entropy": [], "distance": [], "special tokens": [], "previous token": [], "next token": [], "itself": []}
    for i in rows:
        row = [float(w) for w in weights[i]]
        sums["entropy"].append(-sum(w * math.log2(w) for w in row if w > 0))
        sums["distance"].append(sum(w * abs(i - j) for j, w in enumerate(row)))
        sums["special tokens"].append(sum(w for j, w in enumerate(row) if special[j]))
        sums["itself"].append(row[i])
        if i > 0:
            sums["previous token"].append(row[i - 1])
        if i < n - 1:
            sums["next token"].append(row[i + 1])
    return {name: sum(values) / len(values) for name, values in sums.items()}


def test_measures_equal_plain_loops_on_random_weights(encoding):
    n = len(encoding.tokens)
    weights = torch.randn(3, 4, n, n, generator=torch.Generator().manual_seed(0)).mul(2).softmax(-1)
    found = row_measures(weights, encoding)
    for a in range(3):
        for b in range(4):
            for name, value in loops(weights[a, b], encoding.special).items():
                assert float(found[name][a, b]) == pytest.approx(value, abs=1e-5), name


def test_a_row_without_a_token_before_it_is_left_out_of_that_mean():
    special = (False, False, False, True)  # as in T5: nothing special stands in front
    weights = torch.rand(4, 4, generator=torch.Generator().manual_seed(2)).softmax(-1)
    found = row_measures(weights, SimpleNamespace(special=special))
    for name, value in loops(weights, special).items():
        assert float(found[name]) == pytest.approx(value, abs=1e-6)


def test_measures_of_all_heads_are_those_of_each(encoder, encoding):
    found = head_measures(encoding)
    assert all(values.shape == (encoder.n_layers, encoder.n_heads) for values in found.values())
    for name, value in loops(encoding.weights(4)[9], encoding.special).items():
        assert float(found[name][4, 9]) == pytest.approx(value, abs=1e-5)


def test_distance_of_even_weights_on_three_tokens():
    assert mean_distance(torch.full((3, 3), 1 / 3)).tolist() == pytest.approx([1.0, 2 / 3, 1.0])


def test_the_shares_of_punctuation_and_of_the_largest_entropy_are_means_over_ordinary_rows(encoding):
    n = len(encoding.tokens)
    weights = torch.randn(n, n, generator=torch.Generator().manual_seed(3)).mul(2).softmax(-1)
    found = {fit.name: fit.value for fit in fits(weights, encoding)}
    marks = [i for i, token in enumerate(encoding.tokens) if token in ",."]
    rows = [i for i in range(n) if not encoding.special[i]]
    assert len(marks) == 3
    assert found["punctuation"] == pytest.approx(
        sum(float(weights[i, marks].sum()) for i in rows) / len(rows), abs=1e-5
    )
    bits = [-sum(float(w) * math.log2(float(w)) for w in weights[i]) for i in rows]
    assert found["broad"] == pytest.approx(sum(bits) / len(rows) / math.log2(n), abs=1e-5)
    assert found["special tokens"] == pytest.approx(
        sum(float(weights[i, [0, n - 1]].sum()) for i in rows) / len(rows), abs=1e-5
    )
