"""The caption of attributions: who agrees with whom, and on which word they don't."""

import pandas as pd

from selfattn.captions.attributions import ranks, rollout

METHODS = ("rollout", "occlusion")


def opinions(first, second, words=("old", "river", "mud")):
    return pd.DataFrame({"word": words, "rollout rank": first, "occlusion rank": second})


def agreement(correlation):
    return pd.DataFrame({"first": ["rollout"], "second": ["occlusion"], "correlation": [correlation]})


def test_the_word_on_which_they_disagree_most_and_each_ones_first():
    text = ranks(opinions([2.0, 1.0, 3.0], [1.0, 3.0, 2.0]), agreement(-0.5), METHODS)
    assert "over 3 words (so few words say little): rollout and occlusion −0.50." in text
    assert 'First for rollout: "river", occlusion: "old".' in text
    assert 'They disagree most on "river": rollout puts it at 1 of 3, occlusion at 3.' in text


def test_the_other_way_round():
    text = ranks(opinions([1.0, 3.0, 2.0], [1.0, 1.5, 3.0]), agreement(0.5), METHODS)
    assert 'All put "old" first.' in text and 'on "river": occlusion puts it at 1.5 of 3, rollout at 3.' in text


def test_full_agreement_and_a_correlation_that_is_not_defined():
    text = ranks(opinions([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]), agreement(float("nan")), METHODS)
    assert text == 'All put "old" first.'
    many = opinions(range(1, 11), range(1, 11), words=[f"w{i}" for i in range(10)])
    assert ranks(many, agreement(1.0), METHODS).startswith(
        "Rank correlation over 10 words: rollout and occlusion +1.00."
    )


def test_rollout_is_one_line():
    frame = pd.DataFrame({"word": ["old", "river", "."], "rollout": [0.1, 0.2, 0.3]})
    assert rollout(frame, agreement(-0.17)) == (
        'Rollout puts "." first; its ranks and those of hiding have correlation −0.17. It only follows the weights.'
    )
    assert rollout(frame, agreement(float("nan"))) == 'Rollout puts "." first. It only follows the weights.'
