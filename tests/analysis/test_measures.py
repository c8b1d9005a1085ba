"""Compare the measures and patterns of heads with numbers that plain loops compute."""

import math
from types import SimpleNamespace

import pytest
import torch

from selfattn.analysis.measures import head_measures, hide_special, row_measures
from selfattn.analysis.patterns import PATTERNS, fits, nearest_first


def random_weights(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).mul(2).softmax(-1)


@pytest.fixture(scope="module")
def encoding(encoder):
    return encoder.encode("The bank, of the river, was muddy.")


def loops(weights, special):
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


@pytest.mark.parametrize(
    "special", [(True, *[False] * 5, True), (False, False, False, True)], ids=["as in BERT", "as in T5: none in front"]
)
def test_measures_match_plain_loops(special):
    weights = random_weights(3, 4, len(special), len(special))
    weights[..., 1, 0] = 0  # must not give NaN, although log(0) is infinite
    found = row_measures(weights, SimpleNamespace(special=special))
    for a in range(3):
        for b in range(4):
            for name, value in loops(weights[a, b], special).items():
                assert float(found[name][a, b]) == pytest.approx(value, abs=1e-5), name


def test_head_measures_are_indexed_by_layer_and_head(encoder, encoding):
    found = head_measures(encoding)
    assert all(values.shape == (encoder.n_layers, encoder.n_heads) for values in found.values())
    for name, value in loops(encoding.weights(4)[9], encoding.special).items():
        assert float(found[name][4, 9]) == pytest.approx(value, abs=1e-5)


def test_pattern_values_leave_out_rows_of_special_tokens(encoding):
    n = len(encoding.tokens)
    weights = random_weights(n, n, seed=3)
    found, expected = {fit.name: fit.value for fit in fits(weights, encoding)}, loops(weights, encoding.special)
    marks = [i for i, token in enumerate(encoding.tokens) if token in ",."]
    rows = [i for i in range(n) if not encoding.special[i]]
    assert len(marks) == 3
    assert found["punctuation"] == pytest.approx(float(weights[rows][:, marks].sum()) / len(rows), abs=1e-5)
    assert found["broad"] == pytest.approx(expected["entropy"] / math.log2(n), abs=1e-5)
    assert found["special tokens"] == pytest.approx(expected["special tokens"], abs=1e-5)


@pytest.mark.parametrize("name", PATTERNS)
def test_pattern_fits_at_threshold(name):
    least = {"special tokens": 2 / 3, "broad": 0.9}.get(name, 0.5)
    for value in (least, math.nextafter(least, 0)):
        first, *_ = nearest_first(dict.fromkeys(PATTERNS, 0.0) | {name: value})
        assert (first.name, first.fits) == (name, value == least)


def test_hide_special_rescales_weights():
    weights = random_weights(2, 5, 5)
    kept, hidden = hide_special(weights, (True, False, False, False, True))
    for h in range(2):
        for row, i in enumerate((1, 2, 3)):
            on_special = weights[h, i, 0].item() + weights[h, i, 4].item()
            assert hidden[h, row].item() == pytest.approx(on_special, abs=1e-6)
            expected = [weights[h, i, j].item() / (1 - on_special) for j in (1, 2, 3)]
            assert kept[h, row].tolist() == pytest.approx(expected, abs=1e-6)


def test_row_without_weight_on_ordinary_tokens_is_zero():
    kept, hidden = hide_special(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), (True, False))
    assert kept.tolist() == [[0.0]] and hidden.tolist() == [1.0]
