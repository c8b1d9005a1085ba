"""The labelled sentences nearest to a vector: their order, ties, and the real "bank" before and after attention."""

import numpy as np
import pandas as pd
import pytest
import torch

from selfattn.examples import PAIRS, labelled_sentences
from selfattn.senses.nearest_sentences import labelled_vectors, ranked_sentences


def test_the_nearest_comes_first_equally_near_ones_alternate_in_sense_and_its_own_sentence_is_left_out():
    rows = pd.DataFrame({"sentence": list("abcdef"), "sense": ["x", "x", "y", "x", "y", "y"]}, index=[3, 1, 4, 2, 9, 7])
    vectors = torch.tensor([[1.0, 0], [2, 0], [1, 1e-6], [0, 1], [1, 1], [5, 0]])
    found = ranked_sentences(rows, vectors, torch.tensor([3.0, 0]), but="f")
    assert found["sentence"].tolist() == ["a", "c", "b", "e", "d"]
    assert found["cosine"].tolist() == pytest.approx([1, 1, 1, 2**-0.5, 0])
    nearly = ranked_sentences(rows.head(3), torch.tensor([[1.0, 0], [1, 0.001], [1, 0.0085]]), torch.tensor([1.0, 0]))
    assert nearly["sentence"].tolist() == [
        "a",
        "c",
        "b",
    ]  # cosines of 1, 0.9999995 and 0.999964 differ by less than 0.0001


@pytest.mark.slow
def test_after_attention_the_nearest_sentences_of_bank_have_its_sense(encoder):
    frame = labelled_sentences()
    frame = frame[frame["word"] == "bank"]
    rows, layers = labelled_vectors(encoder, frame)
    assert rows["sentence"].tolist() == frame["sentence"].tolist() and layers.shape[:2] == (24, 7)
    encoding = encoder.encode(PAIRS[0].first)
    found = ranked_sentences(rows, layers[:, -1], encoding.hidden[-1, 2])
    assert found["sense"].head(3).tolist() == [PAIRS[0].senses[0]] * 3
    first = encoder.encode(found["sentence"][0])
    at = next(word.start for word in first.words if word.text == "bank")
    a, b = encoding.hidden[-1, 2].numpy(), first.hidden[-1, at].numpy()
    assert found["cosine"][0] == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b), abs=1e-5)
    before = ranked_sentences(rows, layers[:, 0], encoding.hidden[0, 2])
    assert (
        before["cosine"].head(3).tolist() == pytest.approx([1, 1, 1], abs=1e-5) and before["sense"][:3].nunique() == 2
    )
