"""Test the cosines of pairs of unrelated sentences."""

import numpy as np
import pandas as pd
import pytest
import torch

from selfattn.encoders.pooling import load_pooling
from selfattn.examples import labelled_sentences
from selfattn.senses.unrelated_pairs import UnrelatedPairs, drawn_pairs, unrelated_pairs


@pytest.mark.slow
def test_sentences_of_pair_have_different_labelled_words():
    frame = labelled_sentences()
    rng, words = np.random.default_rng(0), sorted(frame["word"].unique())
    expected = []
    for _ in range(1000):
        pair = rng.choice(words, 2, replace=False)
        expected.append(tuple(rng.choice(frame.index[frame["word"] == word]) for word in pair))
    assert drawn_pairs(frame) == expected
    assert all(frame["word"][i] != frame["word"][j] for i, j in expected)


def test_cosine_compares_sentence_vectors(encoder):
    frame = labelled_sentences().groupby("word").head(1)[:3]
    report = unrelated_pairs(encoder, frame)
    assert len(report.pairs) == 1000 and list(report.pairs) == ["first", "second", "cosine"]
    pooling = load_pooling(encoder)
    for first, second, cosine in report.pairs[:4].itertuples(index=False):
        vectors = []
        for row in (first, second):
            read = encoder.encode(frame["sentence"][row])
            vectors.append(read.vector(encoder.n_layers, pooling.positions(read)))
        assert cosine == pytest.approx(float(torch.nn.functional.cosine_similarity(*vectors, dim=0)), abs=1e-5)


def test_percentile_counts_ties_as_half():
    report = UnrelatedPairs(pd.DataFrame({"cosine": [0.7, 0.1, 0.2, 0.2]}))
    assert report.cosines.tolist() == [0.1, 0.2, 0.2, 0.7] and report.median == pytest.approx(0.2)
    assert [report.percentile(value) for value in (0.0, 0.1, 0.2, 0.25, 0.9)] == [0, 0.125, 0.5, 0.75, 1]
