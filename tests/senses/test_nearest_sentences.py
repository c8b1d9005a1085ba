"""Test the ranking of sentences by the cosine of their word's vector with a given vector."""

import pandas as pd
import pytest
import torch

from selfattn import NotRecomputable
from selfattn.examples import labelled_sentences
from selfattn.senses.nearest_sentences import labelled_vectors, nearest_by_stage, ranked_sentences


def test_senses_alternate_among_sentences_with_equal_cosines():
    rows = pd.DataFrame({"sentence": list("abcdef"), "sense": ["x", "x", "y", "x", "y", "y"]}, index=[3, 1, 4, 2, 9, 7])
    vectors = torch.tensor([[1.0, 0], [2, 0], [1, 1e-6], [0, 1], [1, 1], [5, 0]])
    found = ranked_sentences(rows, vectors, torch.tensor([3.0, 0]), but="f")
    assert found["sentence"].tolist() == ["a", "c", "b", "e", "d"]
    assert found["cosine"].tolist() == pytest.approx([1, 1, 1, 2**-0.5, 0])
    nearly = ranked_sentences(rows.head(3), torch.tensor([[1.0, 0], [1, 0.001], [1, 0.0085]]), torch.tensor([1.0, 0]))
    # Cosines that differ by less than 0.0001 count as equal.
    assert nearly["sentence"].tolist() == ["a", "c", "b"]


@pytest.mark.slow
def test_sentences_are_ranked_by_cosine_at_each_stage(encoder):
    labelled = labelled_vectors(encoder, labelled_sentences().query("word == 'bank'"))
    word = encoder.encode("We sat on the bank of the river.").places("bank")[0]
    river = next(other for other in word.others if other.text == "river")
    stages = nearest_by_stage(encoder, word, labelled, river)
    assert list(stages) == ["alone", "in its sentence", 'with "river" hidden']
    assert list(nearest_by_stage(encoder, word, labelled)) == ["alone", "in its sentence"]
    hidden = encoder.hide("We sat on the bank of the river.", "bank", ["river"])[0]
    states = ((0, word.sentence.hidden[0, 5]), (-1, word.sentence.hidden[-1, 5]), (-1, hidden))
    for found, (layer, vector) in zip(stages.values(), states):
        pd.testing.assert_frame_equal(found, ranked_sentences(labelled[0], labelled[1][:, layer], vector))
    text = labelled[0]["sentence"].iloc[0]  # a sentence isn't compared with itself
    assert text not in set(nearest_by_stage(encoder, encoder.locate(text, "bank")[0], labelled)["alone"]["sentence"])


def test_hidden_word_is_refused_if_hiding_is_impossible(encoder_of):
    encoder = encoder_of("XLNet")
    word = encoder.encode("the rain fell.").places("rain")[0]
    labelled = pd.DataFrame({"sentence": ["no rain."], "sense": ["wet"]}), torch.ones(1, 4, encoder.d_model)
    assert list(nearest_by_stage(encoder, word, labelled)) == ["alone", "in its sentence"]
    with pytest.raises(NotRecomputable, match="No word can be hidden"):
        nearest_by_stage(encoder, word, labelled, word.others[0])
