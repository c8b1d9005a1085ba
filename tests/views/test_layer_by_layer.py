"""Test the texts that state cosines of a word's vectors."""

import math

import pytest
import torch

from selfattn.views.layer_by_layer import NO_CONTROL, beside, beside_its_sense, compared
from tests.small_hidden_pair import hidden_pair_of

NAN = math.nan
UNMEASURED = {
    "share": (torch.full((5,), NAN), torch.full((3,), NAN)), "control_cosine": NAN, "control_hidden": NAN, "top": (None, None),
}  # fmt: skip


@pytest.mark.parametrize(
    ("pair", "expected", "control"),
    [
        (
            {},
            '; with "river" and "A" hidden, 0.74',
            "A and the control sentence have cosine 0.55; if in each sentence the word with the largest effect is hidden, "
            "the cosine is 0.66.",
        ),
        (
            {"top": (None, 0), "control_hidden": NAN},
            '; with "A" hidden, 0.07',
            "A and the control sentence have cosine 0.55.",
        ),
        (UNMEASURED, "", NO_CONTROL),
    ],
)
def test_texts_state_cosines_of_last_layer(pair, expected, control):
    pair = hidden_pair_of(**pair)
    assert compared(pair) == f'The two vectors of "bank" have cosine 0.03{expected}.'
    assert beside(pair).endswith(control)


def test_word_is_compared_with_its_uses_in_same_sense():
    pair, cosines = hidden_pair_of(cosine=torch.full((6, 4), 0.125)), torch.tensor([0.125, 0.92])
    assert beside_its_sense(pair, "riverside", cosines) == (
        '"bank" in A, compared with the same word in 2 labelled sentences of the same sense (riverside), has cosine 0.52 '
        "on average (range 0.13 to 0.92). 1 of these cosines is not larger than the cosine of the word's vectors in A and B."
    )
