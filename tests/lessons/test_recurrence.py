"""The recurrence is measured, not drawn: gains below 1 fade, 1 keeps, above 1 grows; attention doesn't know distance."""

import pytest
import torch

from selfattn.lessons import recurrence, timing
from selfattn.lessons.stand_in_vectors import word_vectors
from selfattn.words import split_words

WORDS = split_words(recurrence.SENTENCE)


def gradients(network, **settings):
    found = recurrence.signal(WORDS, 2, 7, **settings)
    return found[found["network"] == network]["gradient"].tolist()


@pytest.mark.parametrize("gain", [0.5, 1.0, 1.3])
def test_the_plain_networks_gradient_is_the_gain_to_the_distance(gain):
    assert gradients("plain", gain=gain) == pytest.approx([gain**step for step in range(6)])


@pytest.mark.parametrize("gain", [0.8, 1.0])
def test_the_share_shrinks_even_where_the_gradient_stays(gain):
    """Each word so far has length 1 and is turned and scaled at every later step: gain ** steps of their sum."""
    plain = recurrence.signal(WORDS, 2, 7, gain=gain).query("network == 'plain'")
    expected = [gain ** (step - 2) / sum(gain**back for back in range(step)) for step in range(2, 8)]
    assert plain["share"].tolist() == pytest.approx(expected)


def test_a_gate_holds_what_the_plain_network_loses():
    assert gradients("gated", gain=0.9, gate=0.05)[-1] > gradients("plain", gain=0.9)[-1]


def test_a_gate_of_one_is_the_plain_network():
    vectors = word_vectors(WORDS, 4)
    assert torch.allclose(recurrence.gated(vectors, 1, 0.9, 1.0), recurrence.plain(vectors, 0.9))


def test_attention_answers_alike_near_and_far():
    near_and_far = gradients("attention", asking=8)
    assert near_and_far[-1] > 0.8 * near_and_far[1]
    assert gradients("attention", asking=0)[-1] < 0.2  # untrained, it spreads evenly: it dilutes too


def test_attention_needs_fewer_multiplications_only_below_half_its_width():
    found = recurrence.operations((10, 256, 1000), 512).pivot(
        index="words", columns="network", values="multiplications"
    )
    assert found.loc[10, "attention"] < found.loc[10, "recurrent"]
    assert found.loc[256, "attention"] == found.loc[256, "recurrent"]
    assert found.loc[1000, "attention"] > found.loc[1000, "recurrent"]


def test_words_keep_their_hyphens_and_apostrophes_and_leave_the_commas():
    assert split_words("It's well-known, is it?") == ("It's", "well-known", "is", "it")


def test_the_race_times_every_way_at_every_length():
    found = timing.race((3, 5), d_model=4, repeats=1)
    assert len(found) == 6
    assert (found["milliseconds"] > 0).all()
