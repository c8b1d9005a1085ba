"""Measures of heads against plain loops on random weights, and the named patterns on heads made to fit them."""

import math
from types import SimpleNamespace

import pytest
import torch

from selfattn.analysis.measures import head_measures, mean_distance, row_measures
from selfattn.analysis.patterns import PATTERNS, fits

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


def made(encoding, name):
    """Weights that fit one pattern whole."""
    n = len(encoding.tokens)
    offsets = {"previous token": -1, "next token": 1, "itself": 0}
    if name in offsets:
        return torch.eye(n).roll(offsets[name], dims=1)
    if name == "broad":
        return torch.full((n, n), 1 / n)
    weights = torch.zeros(n, n)
    comma = encoding.tokens.index(",")
    weights[:, comma if name == "punctuation" else 0] = 1.0
    return weights


@pytest.mark.parametrize("name", PATTERNS)
def test_a_head_made_for_a_pattern_is_called_by_its_name(encoding, name):
    nearest = fits(made(encoding, name), encoding)[0]
    assert nearest.name == name
    assert nearest.fits
    assert nearest.value == pytest.approx(1.0, abs=0.01)


def test_just_below_the_threshold_nothing_fits(encoding):
    n = len(encoding.tokens)
    spread = torch.rand(n, n, generator=torch.Generator().manual_seed(1)) ** 6
    spread = spread / spread.sum(-1, keepdim=True)
    mixed = 0.45 * torch.eye(n).roll(-1, dims=1) + 0.55 * spread
    found = {fit.name: fit for fit in fits(mixed, encoding)}
    assert found["previous token"].value < 0.5 or found["previous token"].fits
    lowered = 0.2 * torch.eye(n).roll(-1, dims=1) + 0.8 * spread
    assert not any(fit.fits for fit in fits(lowered, encoding))


def test_every_pattern_is_reported_nearest_first(encoding):
    found = fits(encoding.weights(0)[0], encoding)
    assert {fit.name for fit in found} == set(PATTERNS)
    nearness = [fit.value / fit.threshold for fit in found]
    assert nearness == sorted(nearness, reverse=True)
