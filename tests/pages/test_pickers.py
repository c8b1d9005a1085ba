"""What the pickers do when a visitor is quicker than the page."""

import pytest

from selfattn.dashboard import pickers


@pytest.mark.parametrize(
    ("drawn", "a", "b", "c"),
    [
        ({"a": "A bat."}, "A bat.", "The bank approved the loan.", pickers.FIRST.control),
        (
            {"example": "bat", "a": "A bat."},
            "A bat.",
            pickers.EXAMPLES["bat"].second,
            pickers.EXAMPLES["bat"].control,
        ),
        ({"example": "bat", "a": "A bat.", "b": "A bat!", "c": ""}, "A bat.", "A bat!", ""),
    ],
)
def test_a_sentence_typed_before_the_other_fields_are_drawn(monkeypatch, drawn, a, b, c):
    state = dict(drawn)
    monkeypatch.setattr(pickers.st, "session_state", state)
    pickers._own()
    assert state == {"example": pickers.OWN, "a": a, "b": b, "c": c}
