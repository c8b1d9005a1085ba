"""A small hand-made table: short enough for a plain loop, with a split word and a third sense in it."""

import pandas as pd
import pytest

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
    "person": ["A swashbuckler leapt across the deck.", "Her uncle was a loud swashbuckler with a hat."],
    "film": ["We watched an old swashbuckler on television.", "The Swashbuckler won two prizes at the festival."],
}


@pytest.fixture(scope="session")
def labelled():
    rows = [
        (sentence, word, sense)
        for word, senses in (("bank", BANK), ("swashbuckler", SPLIT))
        for sense, sentences in senses.items()
        for sentence in sentences
    ]
    return pd.DataFrame(rows, columns=["sentence", "word", "sense"])
