"""The sentences on the pages say what the numbers say, and no more."""

import pandas as pd

from selfattn.captions import attention as readings


def strip(weights, special=(), chosen=1):
    texts = ["[CLS]", "bank", "river"]
    return pd.DataFrame(
        {
            "sentence": "A",
            "text": texts,
            "weight": weights,
            "special": [i in special for i in range(3)],
            "chosen": [i == chosen for i in range(3)],
        }
    )


def heads(effects, controls=None):
    frame = pd.DataFrame({"name": ["L0 H0", "L0 H1"], "effect": effects})
    return frame if controls is None else frame.assign(control=controls)


def test_attention_names_the_word_looked_at_most():
    assert (
        readings.attention(strip([0.1, 0.2, 0.7]), "bank", "L0 H1")
        == 'In L0 H1, "bank" looks most at "river" (0.70) in A.'
    )


def test_attention_says_special_tokens_and_the_word_itself():
    said = readings.attention(strip([0.6, 0.3, 0.1], special=(0,)), "bank", "L0 H1")
    assert (
        said == 'In L0 H1, "bank" looks most at the special token [CLS] (0.60) and, of the words, itself (0.30) in A.'
    )


def test_effect_never_calls_a_small_head_the_cause():
    said = readings.effect(heads([0.02, -0.05]), "L0 H0", "bank", 0.8, None)
    assert "without L0 H0 0.82, 10% of the difference" in said
    assert "largest effect is L0 H1's: 0.75, 25% of the difference the other way: no head does it alone." in said


def test_effect_of_a_head_that_accounts_for_most_is_not_called_too_little():
    said = readings.effect(heads([0.15, 0.0]), "L0 H0", "bank", 0.8, None)
    assert "That is the largest effect of all heads." in said and "alone" not in said


def test_effect_stands_beside_its_control():
    said = readings.effect(heads([0.02, 0.0], [0.0, -0.03]), "L0 H0", "bank", 0.8, 0.9)
    assert "same sense the vectors are 0.90 alike and the largest effect is L0 H1's, -0.030 beside +0.020 here." in said


def test_parting_says_whether_the_way_is_steady():
    steady = readings.parting([1, 1, 0.9, 0.8], "bank", True)
    assert "after the last layer 0.80" in steady and "steady" not in steady
    assert "not steady" in readings.parting([1, 1, 0.7, 0.8], "bank", True)
    assert "different positions" in readings.parting([1, 0.9, 0.8], "bank", False)


def test_switched_off_claims_identity_only_for_no_difference():
    assert "to the last bit" in readings.switched_off(0.0, True)
    assert "1.0e-07" in readings.switched_off(1e-7, True)
    assert "position's part remains" in readings.switched_off(0.5, False)
