"""Test the limits of text fields."""

import pytest

from selfattn.encoders.sources import BUNDLED_NAME

from .conftest import at_address

LONG, REFUSED = (
    "bank " * 20 + "!",
    "This text has 101 characters, but this server allows at most 100. Shorten the text.",
)
SHORT = "The sentence has 72 tokens, but this lesson allows at most 64. Shorten the sentence."
FIELDS = [
    ("", "b", "Sentence B", LONG, REFUSED),
    ("all-heads", "c", "The control sentence", LONG, REFUSED),
    ("two-encoders", "a", BUNDLED_NAME, LONG, REFUSED),
    ("from-scratch", "scaling.sentence", "Sentence", LONG, REFUSED),
    ("from-scratch", "scaling.sentence", "Sentence", "?" * 70, SHORT),
    ("from-scratch", "one-vector.text", "Sentence 2", f"A bank.\n{LONG}", REFUSED),
    ("models-and-proof", "proof_text", "Text", LONG, REFUSED),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("address", "key", "label", "text", "refused"), FIELDS, ids=range(len(FIELDS)))
def test_too_long_text_is_refused(monkeypatch, address, key, label, text, refused):
    monkeypatch.setenv("SELFATTN_MAX_CHARACTERS", "100")
    at = at_address(address, stop=key.partition(".")[0], reveal="yes")
    at.session_state[key] = text
    at.run()
    if address == "models-and-proof":
        at.button(key="run_proof").click().run()
    assert [error.value.replace("\\", "") for error in at.error] == [f"{label}: {refused}"]
