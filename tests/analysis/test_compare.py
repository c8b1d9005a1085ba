"""Test the comparison of two encoders, word by word."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from selfattn.analysis.compare import align, compare_encoders, counterpart_distances, rarest_first
from selfattn.encoders.placed_word import Tokens


@dataclass(frozen=True, eq=False, kw_only=True)
class Cut(Tokens):
    """A text with hand-made tokens and weights."""

    matrix: list

    def weights(self, layer, head):
        return torch.tensor(self.matrix)


def cut(text, pieces, matrix):
    offsets, at = [(0, 0)], 0
    for piece in pieces:
        at = text.index(piece, at)
        offsets.append((at, at + len(piece)))
    n = len(offsets)
    return Cut(
        text=text, pair=None, tokens=("[S]", *pieces), ids=(*range(n),), types=(0,) * n, special=(True, *[False] * (n - 1)),
        offsets=tuple(offsets), segments=(None, *[0] * (n - 1)), reader="", matrix=matrix,
    )  # fmt: skip


def test_align_handles_repeated_and_missing_words():
    first = ["the", "dog", "and", "the", "cat"]
    second = ["the", "cat", "and", "the", "big", "cat"]
    assert align(first, second) == [(0, 0), (1, None), (None, 1), (2, 2), (3, 3), (None, 4), (4, 5)]
    long = ["the"] * 250
    assert align(["a", *long], long) == [(0, None), *((i + 1, i) for i in range(250))]


def test_align_returns_each_position_once():
    first, second = list("abcabba"), list("cbabac")
    for anchor in (None, (2, 0), (0, 2), (6, 4)):
        pairs = align(first, second, anchor)
        assert [i for i, _ in pairs if i is not None] == list(range(7))
        assert [j for _, j in pairs if j is not None] == list(range(6))
        assert all(first[i] == second[j] for i, j in pairs if None not in (i, j))


def test_align_includes_given_pair():
    assert (0, 3) not in align([*"xabc"], [*"abcx"]) and (0, 3) in align([*"xabc"], [*"abcx"], (0, 3))


def test_compare_leaves_out_words_that_one_encoder_lacks():
    first = cut("a b c", ["a", "b", "c"], [[0.25] * 4] * 4)
    second = cut("a b c", ["a", "c"], [[0.0, 0.2, 0.8], [0.5, 0.1, 0.4], [0.5, 0.3, 0.2]])
    found = compare_encoders(first, (0, 0), second, (0, 0))
    assert found.words == ("a", "c") and found.left_out == ("b",)
    np.testing.assert_allclose(found.first, [[1 / 3, 1 / 3], [1 / 3, 1 / 3]], atol=1e-6)
    np.testing.assert_allclose(found.second, [[0.2, 0.8], [0.6, 0.4]], atol=1e-6)


def test_words_of_two_tokenisers_match_by_characters():
    first = cut("in 24/7 a", ["in", "24/7", "a"], [[0.25] * 4] * 4)
    weights = [0.1, 0.2, 0.1, 0.2, 0.3, 0.1]
    second = cut("in 24/7 a", ["in", "24", "/", "7", "a"], [weights] * 6)
    for one, other, swap in ((first, second, False), (second, first, True)):
        found = compare_encoders(one, (0, 0), other, (0, 0))
        assert found.words == ("in", "24/7", "a") and not found.left_out
        thirds, split = (found.second, found.first) if swap else (found.first, found.second)
        np.testing.assert_allclose(thirds, [[1 / 3] * 3] * 3, atol=1e-6)
        np.testing.assert_allclose(split, [[2 / 9, 6 / 9, 1 / 9]] * 3, atol=1e-6)


def test_compare_refuses_different_tokens_or_texts(encoder_of):
    first, other = (encoder_of(name).encode("The riverbank was muddy.") for name in ("BERT", "RoBERTa"))
    with pytest.raises(ValueError, match="different tokens"):
        counterpart_distances(first, other)
    with pytest.raises(ValueError, match="the same text"):
        compare_encoders(first, (0, 0), replace(first, text="The bank."), (0, 0))


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ("The old crane was there.", "There the crane waded.", ["crane", "there", "The"]),
        ("The riverbanks of the river.", "The river and the riverbanks.", ["riverbanks", "river", "The"]),
        ("Riverbank, herons.", "A riverbank: herons.", ["herons", "Riverbank"]),  # river ##bank, heron ##s
        ("A gnome sat.", "The river.", []),
        ("ねこねこ", "ねこねこแมว", []),  # the word is inside an unknown token
    ],
)
def test_rarest_shared_word_comes_first(encoder, first, second, words):
    assert rarest_first(encoder.encode(first), encoder.encode(second)) == words
