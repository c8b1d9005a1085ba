"""Test attention maps of words."""

from dataclasses import replace

import pytest
import torch

from selfattn.analysis.word_map import WordMap, attended, places, word_map


@pytest.fixture
def encoding(encoder):
    """Return an encoding with the tokens [CLS] un ##happy cat [SEP]."""
    real = encoder.encode("a b c")
    tokens, offsets = ("[CLS]", "un", "##happy", "cat", "[SEP]"), ((0, 0), (0, 2), (2, 7), (8, 11), (0, 0))
    return replace(real, text="unhappy cat", tokens=tokens, offsets=offsets)


WEIGHTS = torch.tensor([
    [0.2, 0.2, 0.2, 0.2, 0.2], [0.1, 0.2, 0.3, 0.2, 0.2], [0.3, 0.2, 0.1, 0.4, 0.0], [0.0, 0.5, 0.1, 0.1, 0.3], [1.0, 0, 0, 0, 0],
])  # fmt: skip


def test_word_map_sums_columns_and_averages_rows(encoding):
    view = word_map(encoding, WEIGHTS)
    assert view.labels == ("[CLS]", "unhappy", "cat", "[SEP]")
    assert view.groups == ((0,), (1, 2), (3,), (4,))
    assert view.matrix[1].tolist() == pytest.approx([0.2, 0.4, 0.3, 0.1])
    assert view.matrix.sum(-1).tolist() == pytest.approx([1, 1, 1, 1])
    assert view.special == (True, False, False, True) and view.hidden == 0
    assert view.rows_of([1, 2]) == [1] and view.rows_of([4, 2]) == [1, 3]
    assert places(encoding) == (view.labels, view.groups, view.special)


def test_word_map_reports_weight_on_special_tokens(encoding):
    view = word_map(encoding, WEIGHTS, words=False, special=False)
    assert view.labels == ("un", "##happy", "cat")
    assert view.hidden == pytest.approx((0.3 + 0.3 + 0.3) / 3)
    assert view.matrix[0].tolist() == pytest.approx([2 / 7, 3 / 7, 2 / 7])
    assert view.rows_of([0]) == []


def test_word_map_without_special_tokens(encoding):
    view = word_map(encoding, WEIGHTS, special=False)
    assert view.labels == ("unhappy", "cat") and view.groups == ((1, 2), (3,)) and view.special == (False, False)
    # Before rescaling, the row of "unhappy" is (0.4, 0.3), and the row of "cat" is (0.6, 0.1).
    assert view.matrix[0].tolist() == pytest.approx([4 / 7, 3 / 7])
    assert view.matrix[1].tolist() == pytest.approx([6 / 7, 1 / 7])
    assert view.hidden == pytest.approx(0.3)


def test_binned_map_keeps_largest_weight_with_sign():
    matrix = torch.zeros(5, 5)
    matrix[0, 1], matrix[3, 3], matrix[4, 0] = 0.9, -0.8, 0.1
    groups, special = tuple((i,) for i in range(5)), (True,) * 3 + (False,) * 2
    view = WordMap(labels=tuple("abcde"), groups=groups, special=special, matrix=matrix)
    bins = view.binned(most=3)
    assert bins.step == 2
    assert bins.matrix.flatten().tolist() == pytest.approx([0.9, 0, 0, 0, -0.8, 0, 0.1, 0, 0])
    assert bins.labels == ("a … b", "c … d", "e … e")
    assert bins.rows_of([3]) == [1] and bins.groups == ((0, 1), (2, 3), (4,))
    assert bins.special == (True, False, False)
    assert view.binned(most=5) is view


def test_attended_returns_weights_of_every_head(encoder):
    encoding = encoder.encode("The stalagmite, wet and cold, stood in the unlit cave.")
    word = encoding.places("stalagmite")[0]
    seen = attended(word)
    assert seen.labels[:4] == ("[CLS]", "The", "stalagmite", ",") and seen.labels[-1] == "[SEP]"
    assert seen.labels[seen.chosen] == "stalagmite"
    assert [word.others[at].text for at in seen.others if at is not None] == [other.text for other in word.others]
    assert [at for at, other in enumerate(seen.others) if other is None] == [0, seen.chosen, len(seen.labels) - 1]
    assert seen.special == (True, *[False] * (len(seen.labels) - 2), True)
    torch.testing.assert_close(seen.weights.sum(dim=-1), torch.ones(6, 12))
    whole = word_map(encoding, encoding.weights(3, 7))
    torch.testing.assert_close(seen.weights[3, 7], whole.matrix[whole.rows_of(word.positions)[0]])


def test_attended_keeps_only_given_words(encoder):
    word = encoder.encode("We sat on the bank of the river, and the bank was wet.").places("bank")[1]
    kept = attended(word, keep={4, 0, 7})
    assert kept.labels == ("[CLS]", "We", "bank", "river", "bank", "[SEP]")
    assert kept.others == (None, 0, 4, 7, None, None) and kept.chosen == 4
    assert kept.special == (True, False, False, False, False, True)
    whole = attended(word)
    torch.testing.assert_close(kept.weights, whole.weights[..., [0, 1, 5, 8, 12, 16]])
    assert attended(word, keep=()).labels == ("[CLS]", "bank", "[SEP]")
