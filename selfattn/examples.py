"""Hand-written English examples, read from data/*.csv: word senses, pronouns, negations and plain sentences.

Nothing is generated from templates. All were written for this library but a few that are known from elsewhere: the
animal and the street, the movie and its soundtrack, the artist's score.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from importlib.resources import files

import pandas as pd

DATA = files("selfattn") / "data"


@dataclass(frozen=True)
class Example:
    """One word in two senses, and a control: another sentence with the sense of the first.

    The word has equally many words before it in all three. The control shares as many words with the first sentence
    as the second does, so that a vector closer to the control's is closer for the sense, not for repeated words; in the first
    pair one more, whose three sentences have one pattern.
    """

    word: str
    first: str
    second: str
    control: str
    senses: tuple[str, str]  # what the word means in `first` (and `control`), and in `second`

    @property
    def sentences(self) -> tuple[str, str, str]:
        """The first, the second and the control."""
        return self.first, self.second, self.control


@dataclass(frozen=True)
class PronounSentence:
    """A pronoun after two nouns that it could grammatically mean; readers agree on one of them."""

    sentence: str
    pronoun: str
    antecedent: str  # the noun it stands for
    distractor: str  # the other noun: same number, compatible gender
    twin: str | None  # shared by two sentences that differ in one word, which turns the pronoun to the other noun


@dataclass(frozen=True)
class Negation:
    """A sentence and its negation, one word longer."""

    plain: str
    negated: str
    target_word: str  # the word whose meaning is turned round
    negator: str


@dataclass(frozen=True)
class TextPair:
    """Two texts whose cosine is worth a look."""

    name: str
    first: str
    second: str


def _table(name: str) -> pd.DataFrame:
    """data/NAME.csv, all of it text."""
    with (DATA / f"{name}.csv").open(encoding="utf-8") as table:
        return pd.read_csv(table, dtype=str, keep_default_na=False)


def _example(first_sense: str, second_sense: str, **columns: str) -> Example:
    return Example(**columns, senses=(first_sense, second_sense))


def _pronoun(twin: str, **columns: str) -> PronounSentence:
    return PronounSentence(**columns, twin=twin or None)


# The first is where the dashboard opens.
PAIRS = tuple(_example(**row) for row in _table("pairs").to_dict("records"))
# For each pronoun, the antecedent is the first noun in half of the sentences.
PRONOUNS = tuple(_pronoun(**row) for row in _table("pronouns").to_dict("records"))
NEGATION_PAIRS = tuple(Negation(**row) for row in _table("negations").to_dict("records"))
TEXT_PAIRS = tuple(TextPair(**row) for row in _table("text_pairs").to_dict("records"))
_BY_USE = _table("sentences").set_index("use")["sentence"]
# "bank" beside water, at work with money, and beside water again.
STATIC_WORD_SENTENCES = tuple(_BY_USE["one word"])
# They share hardly a word.
NEUTRAL_SENTENCES = tuple(_BY_USE["neutral"])

# "she" may be the artist or the musician, and readers differ: shown, never scored.
UNRESOLVED = PronounSentence(
    "The artist gave the musician a score because she loved her composition.", "she", "artist", "musician", None
)

# Spaced as in a treebank: the negator belongs to the first half only.
MOVIE = "The movie was not good , but the soundtrack was amazing ."


def labelled_sentences() -> pd.DataFrame:
    """The sentences of data/senses.csv: `sentence`, the ambiguous `word` in it, and the `sense` it has there.

    Every word has two senses with twelve sentences each and stands once in its sentence, in lower case. It stands at the
    same token positions in both senses (for the bundled encoder): before attention, nothing separates the senses.
    """
    return _table("senses")


def other_sentences(frame: pd.DataFrame, row: Hashable) -> tuple[str, str]:
    """Return a row's word's first sentence of another sense, and its first other one of the same. row: an index label."""
    own = frame.loc[row]
    others = frame[(frame["word"] == own["word"]) & (frame.index != row)]
    same = others["sense"] == own["sense"]
    return others["sentence"][~same].iloc[0], others["sentence"][same].iloc[0]
