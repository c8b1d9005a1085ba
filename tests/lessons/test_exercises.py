"""The exercises: what solves them and what doesn't, by the kernel."""

import math

import pytest

from selfattn.lessons import exercises


@pytest.mark.parametrize(("scale", "right"), [(0.5**0.5, False), (2.0, False), (2.2, True), (2.5, False), (8.0, False)])
def test_one_scale_gives_nine_tenths(scale, right):
    found = exercises.nine_tenths(scale)
    rest = math.exp(-scale) + 3 * math.exp(-5 * scale)  # scores 3, 2 and three times −2
    assert found == (right, f"river gets {1 / (1 + rest):.3f}.")


@pytest.mark.parametrize(
    ("scores", "right"),
    [((1, 1), False), ((math.log(3), 0), True), ((2.1, 1), True), ((0, math.log(3)), False), ((900, 0), False)],
)
def test_three_to_one_is_a_difference_of_log_three(scores, right):
    assert exercises.three_to_one(scores)[0] == right


@pytest.mark.parametrize(
    ("key", "right"), [((1, 4), False), ((3, 1), False), ((2, 5), False), ((4, 0), True), ((3.9, 1.3), True)]
)
def test_a_turned_key_draws_it_to_street_and_a_longer_one_does_not_count(key, right):
    assert exercises.to_street(key)[0] == right == (3 * key[0] + key[1] > 10 and math.hypot(*key) <= math.sqrt(17))


def test_only_minus_infinity_or_a_new_sum_repairs_the_mask():
    assert [exercises.repair(line)[0] for line in exercises.REPAIRS] == [True, False, False, True]


def test_a_hidden_word_must_move_bank_half_of_the_way():
    assert [exercises.hidden(share)[0] for share in (0.53, 0.44, math.nan)] == [True, False, False]
