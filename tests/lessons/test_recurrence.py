"""The recurrence is measured, not drawn: gains below 1 fade, 1 keeps, above 1 grows; attention doesn't know distance."""

import pytest
import torch

from selfattn.lessons import recurrence, timing
from selfattn.lessons.recurrence import word_vectors
from selfattn.words import split_words

WORDS = split_words(recurrence.SENTENCE)


def gradients(network, **settings):
    found = recurrence.signal(WORDS, 2, 7, **settings)
    return found[found["network"] == network]["gradient"].tolist()


@pytest.mark.parametrize("gain", [0.5, 1.0, 1.3])
@pytest.mark.slow
def test_the_plain_networks_gradient_is_the_gain_to_the_distance(gain):
    assert gradients("plain", gain=gain) == pytest.approx([gain**step for step in range(6)])


@pytest.mark.parametrize("gain", [0.8, 1.0])
@pytest.mark.slow
def test_the_share_shrinks_even_where_the_gradient_stays(gain):
    """Each word so far has length 1 and is turned and scaled at every later step: gain ** steps of their sum."""
    plain = recurrence.signal(WORDS, 2, 7, gain=gain).query("network == 'plain'")
    expected = [gain ** (step - 2) / sum(gain**back for back in range(step)) for step in range(2, 8)]
    assert plain["share"].tolist() == pytest.approx(expected)


@pytest.mark.slow
def test_a_gate_holds_what_the_plain_network_loses():
    assert gradients("gated", gain=0.9, gate=0.05)[-1] > gradients("plain", gain=0.9)[-1]


def test_a_gate_of_one_is_the_plain_network():
    vectors = word_vectors(WORDS, 4)
    states = recurrence.gated(vectors, 1, 0.9, 1.0)
    turn = torch.linalg.lstsq(states[:-1], (states[1:] - vectors[1:]) / 0.9).solution
    assert torch.allclose(states[0], vectors[0]) and torch.allclose(turn @ turn.T, torch.eye(4, dtype=torch.float64))


@pytest.mark.slow
def test_attention_answers_alike_near_and_far():
    near_and_far = gradients("attention", asking=8)
    assert near_and_far[-1] > 0.8 * near_and_far[1]
    assert gradients("attention", asking=0)[-1] < 0.2  # untrained, it spreads evenly: it dilutes too


def test_attention_pays_for_its_projections_too():
    found = recurrence.operations((1, 512, 1024), 512).pivot(index="words", columns="network", values="multiplications")
    bare = found["attention without projections"] / found["recurrent"]
    assert bare.tolist() == pytest.approx([1 / 512, 1, 2])
    assert (found["attention"] / found["recurrent"]).tolist() == pytest.approx([2 + 1 / 512, 3, 4])
    # One word: W_Q, W_K, W_V and W_O, each d x d; one score and one weighted value of width d.
    assert found.loc[1, "attention"] == 4 * 512 * 512 + 2 * 512


def test_words_keep_their_hyphens_and_apostrophes_and_leave_the_commas():
    assert split_words("It's well-known, is it?") == ("It's", "well-known", "is", "it")


def test_what_is_timed_runs_once_a_time_and_once_before():
    runs = []
    assert timing._median_ms(lambda: runs.append(1), 5, "cpu") < 100
    assert len(runs) == 6


def test_the_race_times_every_way_at_every_length():
    found = timing.race((3, 5), d_model=4, repeats=1)
    assert len(found) == 6
    assert (found["milliseconds"] > 0).all()
