"""English examples from data/*.csv.

We wrote the sentences, except a few well-known ones, such as the sentence about the animal and the street.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from importlib.resources import files

import pandas as pd

DATA = files("selfattn") / "data"


@dataclass(frozen=True)
class Example:
    """A word in two senses, and a control sentence with the first sense.

    The same number of words precedes the word in each sentence.
    `control` and `second` share equally many words with `first`, except in `PAIRS[0]`.
    """

    word: str
    first: str
    second: str
    control: str
    senses: tuple[str, str]  # the sense in `first` and `control`, then in `second`

    @property
    def sentences(self) -> tuple[str, str, str]:
        return self.first, self.second, self.control


@dataclass(frozen=True)
class PronounSentence:
    """A sentence with a pronoun that grammatically fits two nouns."""

    sentence: str
    pronoun: str
    antecedent: str  # the noun that the pronoun refers to
    distractor: str  # the other noun
    twin: str | None  # a key shared by two sentences that differ in one word


@dataclass(frozen=True)
class Negation:
    """A sentence and its negation, which is one word longer."""

    plain: str
    negated: str
    target_word: str  # the negated word
    negator: str


@dataclass(frozen=True)
class TextPair:
    """Two texts to compare by their cosine."""

    name: str
    first: str
    second: str


def _table(name: str) -> pd.DataFrame:
    with (DATA / f"{name}.csv").open(encoding="utf-8") as table:
        return pd.read_csv(table, dtype=str, keep_default_na=False)


# The dashboard opens with the first pair.
PAIRS = tuple(
    Example(senses=(row.pop("first_sense"), row.pop("second_sense")), **row)
    for row in _table("pairs").to_dict("records")
)
# For each pronoun, half of the sentences name the antecedent before the other noun.
PRONOUNS = tuple(
    PronounSentence(**row | {"twin": row["twin"] or None}) for row in _table("pronouns").to_dict("records")
)
NEGATION_PAIRS = tuple(Negation(**row) for row in _table("negations").to_dict("records"))
TEXT_PAIRS = tuple(TextPair(**row) for row in _table("text_pairs").to_dict("records"))
_BY_USE = _table("sentences").set_index("use")["sentence"]
# The first two sentences and the last one are about a river's bank, the others about a money bank.
STATIC_WORD_SENTENCES = tuple(_BY_USE["one word"])
# Any two of these sentences have hardly a word in common.
NEUTRAL_SENTENCES = tuple(_BY_USE["neutral"])

# No head is scored on this sentence, because readers disagree whom "she" means.
UNRESOLVED = PronounSentence(
    "The artist gave the musician a score because she loved her composition.", "she", "artist", "musician", None
)

# Spaces surround punctuation, as in a treebank.
MOVIE = "The movie was not good , but the soundtrack was amazing ."


def labelled_sentences() -> pd.DataFrame:
    """Return the table data/senses.csv, with columns sentence, word and sense.

    Each word has two senses, with twelve sentences each.
    In the bundled encoder, the word is at each token position equally often in both senses.
    So a position doesn't reveal the sense.
    """
    return _table("senses")


def other_sentences(frame: pd.DataFrame, row: Hashable) -> tuple[str, str]:
    """Return two other sentences with the word of `row`: first in another sense, then in the sense of `row`."""
    word, sense = frame.loc[row, ["word", "sense"]]
    others = frame[(frame["word"] == word) & (frame.index != row)]
    same = others["sense"] == sense
    return others["sentence"][~same].iloc[0], others["sentence"][same].iloc[0]
