"""Hand-written English examples, read from data/*.csv: word senses, pronouns, negations and plain sentences.

No sentence is made from a template. All were written for this library, except a few well-known ones: the animal and the street,
the movie and its soundtrack, the artist's score.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from importlib.resources import files

import pandas as pd

DATA = files("selfattn") / "data"


@dataclass(frozen=True)
class Example:
    """One word in two senses, and a control: another sentence in which the word has the first sense.

    In all three sentences, the same number of words precedes the word. The control shares as many words with the first sentence
    as the second sentence does (one more in the first pair), so that repeated words can't bring the control's vector closer.
    """

    word: str
    first: str
    second: str
    control: str
    senses: tuple[str, str]  # what the word means in `first` (and `control`), and in `second`

    @property
    def sentences(self) -> tuple[str, str, str]:
        """The first sentence, the second and the control."""
        return self.first, self.second, self.control


@dataclass(frozen=True)
class PronounSentence:
    """A pronoun after two nouns that it could grammatically refer to; readers agree on one of them."""

    sentence: str
    pronoun: str
    antecedent: str  # the noun that the pronoun refers to
    distractor: str  # the other noun, with the same number and a compatible gender
    twin: str | None  # a key of two sentences that differ in one word, and so in their antecedent


@dataclass(frozen=True)
class Negation:
    """A sentence and its negation, which is one word longer."""

    plain: str
    negated: str
    target_word: str  # the word whose meaning the negator reverses
    negator: str


@dataclass(frozen=True)
class TextPair:
    """Two texts with an interesting cosine."""

    name: str
    first: str
    second: str


def _table(name: str) -> pd.DataFrame:
    """Read data/NAME.csv, every cell as text."""
    with (DATA / f"{name}.csv").open(encoding="utf-8") as table:
        return pd.read_csv(table, dtype=str, keep_default_na=False)


# The dashboard opens with the first pair.
PAIRS = tuple(
    Example(senses=(row.pop("first_sense"), row.pop("second_sense")), **row)
    for row in _table("pairs").to_dict("records")
)
# For each pronoun, the antecedent is the first noun in half of the sentences.
PRONOUNS = tuple(
    PronounSentence(**row | {"twin": row["twin"] or None}) for row in _table("pronouns").to_dict("records")
)
NEGATION_PAIRS = tuple(Negation(**row) for row in _table("negations").to_dict("records"))
TEXT_PAIRS = tuple(TextPair(**row) for row in _table("text_pairs").to_dict("records"))
_BY_USE = _table("sentences").set_index("use")["sentence"]
# "bank" at the water, as a place for money, and at the water again.
STATIC_WORD_SENTENCES = tuple(_BY_USE["one word"])
# Sentences that share hardly any words.
NEUTRAL_SENTENCES = tuple(_BY_USE["neutral"])

# Shown but never scored: readers disagree whether "she" is the artist or the musician.
UNRESOLVED = PronounSentence(
    "The artist gave the musician a score because she loved her composition.", "she", "artist", "musician", None
)

# Punctuation has spaces around it, as in a treebank. The negator belongs only to the first half.
MOVIE = "The movie was not good , but the soundtrack was amazing ."


def labelled_sentences() -> pd.DataFrame:
    """Return the sentences of data/senses.csv: `sentence`, the ambiguous `word` in it, and the `sense` it has there.

    Every word has two senses with twelve sentences each and occurs once in each sentence, in lower case. The bundled encoder
    has the word at the same token positions in both senses, so that nothing separates the senses before attention.
    """
    return _table("senses")


def other_sentences(frame: pd.DataFrame, row: Hashable) -> tuple[str, str]:
    """Return two sentences with the row's word: the first in another sense, then the first other one in the row's sense."""
    word, sense = frame.loc[row, ["word", "sense"]]
    others = frame[(frame["word"] == word) & (frame.index != row)]
    same = others["sense"] == sense
    return others["sentence"][~same].iloc[0], others["sentence"][same].iloc[0]
