"""Whoever needs one head of a layer computes that head only: all twelve cost eight times as much on a long text."""

import pytest

from selfattn.analysis.compare import compare_encoders, compare_sentences
from selfattn.analysis.steps import head_steps
from selfattn.notebook import attention

TEXT, OTHER = "The bank of the river was muddy.", "The bank approved the loan."


def side(encoder, text):
    return encoder.encode(text).places("bank")[0]


USES = {
    "difference": lambda encoder: compare_sentences(side(encoder, TEXT), side(encoder, OTHER), 3, 7),
    "two encoders": lambda encoder: compare_encoders(encoder.encode(TEXT), (3, 7), encoder.encode(TEXT), (5, 7)),
    "steps": lambda encoder: head_steps(encoder, encoder.encode(TEXT), 3, 7),
    "notebook": lambda encoder: attention(encoder, TEXT, 3, 7),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.slow
def test_no_other_head_is_computed(encoder, asked_heads, use):
    USES[use](encoder)
    assert asked_heads
    assert {head for _, head, _ in asked_heads} == {7}
