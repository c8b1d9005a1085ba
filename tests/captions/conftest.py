"""Two sentences of our own and a head that no page opens with, by the model's own eager weights."""

import pytest

A, B = "Yesterday a crane lifted the beam.", "A crane waded slowly near the shore."
LAYER, HEAD = 3, 7


@pytest.fixture(scope="session")
def sides(encoder):
    """Name: the encoding, the word "crane" in it, and the model's own weights of L3 H7 (n, n), not the kernel's."""
    found = {}
    for name, text in (("A", A), ("B", B)):
        encoding = encoder.encode(text)
        word = next(word for word in encoding.words if word.text == "crane")
        found[name] = (encoding, word, encoder.reference_weights(text)[LAYER, HEAD])
    return found
