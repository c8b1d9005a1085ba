"""Two encoders on one sentence: words meet, counterparts are compared, and what can't be compared says why."""

import pytest
import torch

from selfattn import load_encoder
from selfattn.analysis.compare import head_by_head, meet, why_not_head_by_head, word_map
from selfattn.encoders.families import FAMILIES, save_tiny

TEXT = "The riverbank was muddy."


@pytest.fixture(scope="module")
def encoders(tmp_path_factory):
    def load(name, seed):
        return load_encoder(str(save_tiny(FAMILIES[name], tmp_path_factory.mktemp("compare"), seed=seed)))

    return {"before": load("BERT", 0), "after": load("BERT", 1), "other": load("RoBERTa", 0), "shown": load("MPNet", 0)}


def test_a_word_map_holds_words_only_and_its_rows_sum_to_one(encoders):
    found = word_map(encoders["before"].encode(TEXT), (1, 2))
    assert found.words == ("The", "riverbank", "was", "muddy", ".")
    torch.testing.assert_close(found.weights.sum(-1), torch.ones(5))
    assert 0 < found.hidden < 1


def test_two_tokenisers_meet_at_the_words(encoders):
    first, second = encoders["before"].encode(TEXT), encoders["other"].encode(TEXT)
    assert len(first.tokens) != len(second.tokens)
    meeting = meet(first, (1, 2), second, (0, 3))
    assert meeting.words == ("The", "riverbank", "was", "muddy", ".")
    assert meeting.left_out == ()
    torch.testing.assert_close(meeting.first, word_map(first, (1, 2)).weights)
    torch.testing.assert_close(meeting.difference, word_map(second, (0, 3)).weights - meeting.first)


def test_an_encoder_that_is_shown_only_can_be_met(encoders):
    meeting = meet(encoders["shown"].encode(TEXT), (0, 0), encoders["before"].encode(TEXT), (0, 0))
    assert meeting.words[1] == "riverbank"


def test_counterparts(encoders):
    assert why_not_head_by_head(encoders["before"], encoders["after"]) == ""
    assert "family bert and roberta" in why_not_head_by_head(encoders["before"], encoders["other"])


def test_head_by_head(encoders):
    first, second = encoders["before"].encode(TEXT), encoders["after"].encode(TEXT)
    assert head_by_head(first, first).abs().max() == 0
    far = head_by_head(first, second)
    assert far.shape == (3, 4)
    row = (second.weights(2)[1] - first.weights(2)[1])[1:-1]  # without [CLS] and [SEP]
    torch.testing.assert_close(far[2, 1], row.abs().sum(-1).mean() / 2)
    assert far.min() > 0
    assert far.max() <= 1


def test_other_tokens_or_texts_are_refused(encoders):
    first = encoders["before"].encode(TEXT)
    with pytest.raises(ValueError, match="same tokens"):
        head_by_head(first, encoders["other"].encode(TEXT))
    with pytest.raises(ValueError, match="one text"):
        meet(first, (0, 0), encoders["after"].encode("The bank."), (0, 0))
