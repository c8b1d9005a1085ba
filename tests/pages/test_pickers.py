"""Test what happens if a visitor types before the page has drawn all fields."""

import pytest

from selfattn.dashboard import pickers
from tests.dashboard.test_choices import State


@pytest.mark.parametrize(
    ("edited", "drawn", "a", "b", "c"),
    [
        ("a", {"a": "A bat."}, "A bat.", pickers.FIRST.second, ""),
        ("a", {"example": "bat", "a": "A bat."}, "A bat.", pickers.EXAMPLES["bat"].second, ""),
        ("b", {"b": "A bank."}, pickers.FIRST.first, "A bank.", pickers.FIRST.control),
        ("a", {"a": "A bat.", "b": "A bat!", "c": "Bats.", "typed": ("Bats.", "")}, "A bat.", "A bat!", "Bats."),
    ],
)
def test_typing_in_one_field_keeps_other_sentences(monkeypatch, edited, drawn, a, b, c):
    state = State(drawn)
    monkeypatch.setattr(pickers.st, "session_state", state)
    pickers._typed(edited)
    assert {key: state[key] for key in ("example", "a", "b", "c")} == {"example": None, "a": a, "b": b, "c": c}
