"""A small hand-made table: short enough for a plain loop, with a split word and a third sense in it."""

import pandas as pd
import pytest

from selfattn import load_encoder

BANK = {
    "water": [
        "The bank of the river was muddy.",
        "Reeds grew along the bank.",
        "They moored the boat at the bank and slept.",
    ],
    "money": [
        "The bank approved the loan.",
        "She deposited her salary at the bank.",
        "My bank charges too much for every transfer.",
        "A robber left the bank with two bags.",
    ],
    "row": ["The pilot looked at a bank of switches.", "Under the roof hung a bank of lights."],
}
# A word of several pieces in the bundled encoder's vocabulary.
SPLIT = {
    "person": ["An undertaker buried him quietly.", "My aunt married an undertaker."],
    "wrestler": ["The Undertaker threw his rival out of the ring.", "Fans cheered the undertaker in the arena."],
}


@pytest.fixture(scope="session")
def encoder():
    return load_encoder(device="cpu")


@pytest.fixture(scope="session")
def labelled():
    rows = [
        (sentence, word, sense)
        for word, senses in (("bank", BANK), ("undertaker", SPLIT))
        for sense, sentences in senses.items()
        for sentence in sentences
    ]
    return pd.DataFrame(rows, columns=["sentence", "word", "sense"])
