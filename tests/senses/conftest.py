"""Make small tables of labelled sentences."""

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
# "riverbank" has two tokens in the tiny vocabulary.
RIVERBANKS = {
    "water": ["The riverbank was muddy.", "She sat by the riverbank in the rain.", "Rain, and the riverbank waited.",
              "The well-known riverbank was muddy after the rain."],
    "money": ["The riverbank approved the loan.", "It was by the riverbank in the loan.", "A loan, and the riverbank sat.",
              "Didn't the riverbank approve it in the morning?", "The riverbank didn't wait."],
    "row": ["Morning, and a riverbank of it.", "A well-known riverbank waited.", "After the riverbank, rain.",
            "It sat in the riverbank."],
}  # fmt: skip
# "swashbuckler" has several tokens in the bundled encoder.
SPLIT = {
    "person": ["A swashbuckler leapt across the deck.", "Her uncle was a loud swashbuckler with a hat."],
    "film": ["We watched an old swashbuckler on television.", "The Swashbuckler won two prizes at the festival."],
}


def tiny_table(*senses, words=("riverbank", "bank")):
    """Return sentences for tiny encoders, in random order."""
    rows = [
        (sentence.replace("riverbank", word), word, sense)
        for word in words
        for sense in senses or RIVERBANKS
        for sentence in RIVERBANKS[sense]
    ]
    return pd.DataFrame(rows, columns=["sentence", "word", "sense"]).sample(frac=1, random_state=1)


@pytest.fixture(scope="session")
def labelled():
    rows = [
        (sentence, word, sense)
        for word, senses in (("bank", BANK), ("swashbuckler", SPLIT))
        for sense, sentences in senses.items()
        for sentence in sentences
    ]
    return pd.DataFrame(rows, columns=["sentence", "word", "sense"])
