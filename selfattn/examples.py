"""Hand-written English examples, read from data/*.csv: word senses, pronouns, negations and plain sentences.

The sentences were written for this library, except a few well-known ones: the animal and the street, the movie and its
soundtrack, the artist's score.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from importlib.resources import files

import pandas as pd

DATA = files("selfattn") / "data"


@dataclass(frozen=True)
class Example:
    """One word in two senses, and a control: another sentence in which the word has the first sense.

    In all three sentences, the same number of words precedes the word. `control` and `second` share equally many words with
    `first`, so that shared words don't make the control's vector more similar. (In the first pair of PAIRS, `control` shares one
    word more.)
    """

    word: str
    first: str
    second: str
    control: str
    senses: tuple[str, str]  # the word's meaning in `first` and `control`, then in `second`

    @property
    def sentences(self) -> tuple[str, str, str]:
        """The first sentence, the second and the control."""
        return self.first, self.second, self.control


@dataclass(frozen=True)
class PronounSentence:
    """A sentence with a pronoun after two nouns. Grammatically it could refer to either noun; readers agree on one."""

    sentence: str
    pronoun: str
    antecedent: str  # the noun that the pronoun refers to
    distractor: str  # the other noun, with the same number and a compatible gender
    twin: str | None  # a key that this sentence shares with another: the two differ in one word and in the antecedent


@dataclass(frozen=True)
class Negation:
    """A sentence and its negation, which is one word longer."""

    plain: str
    negated: str
    target_word: str  # the word whose meaning the negator reverses
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
# For each pronoun, the antecedent is the first noun in half of the sentences.
PRONOUNS = tuple(
    PronounSentence(**row | {"twin": row["twin"] or None}) for row in _table("pronouns").to_dict("records")
)
NEGATION_PAIRS = tuple(Negation(**row) for row in _table("negations").to_dict("records"))
TEXT_PAIRS = tuple(TextPair(**row) for row in _table("text_pairs").to_dict("records"))
_BY_USE = _table("sentences").set_index("use")["sentence"]
# The senses of "bank" in these sentences: river, money, river.
STATIC_WORD_SENTENCES = tuple(_BY_USE["one word"])
# Sentences that share hardly any words.
NEUTRAL_SENTENCES = tuple(_BY_USE["neutral"])

# A page shows this sentence without a score, because readers disagree whether "she" is the artist or the musician.
UNRESOLVED = PronounSentence(
    "The artist gave the musician a score because she loved her composition.", "she", "artist", "musician", None
)

# Spaces surround punctuation, as in a treebank. "not" negates only the first clause.
MOVIE = "The movie was not good , but the soundtrack was amazing ."


def labelled_sentences() -> pd.DataFrame:
    """Return the table data/senses.csv. Columns: sentence, word (an ambiguous word of the sentence), sense (of that word).

    Every word has two senses with twelve sentences each. The word occurs once in each sentence, in lower case. In the bundled
    encoder's tokens, the word has the same twelve positions in both senses, so that position embeddings don't separate them.
    """
    return _table("senses")


def other_sentences(frame: pd.DataFrame, row: Hashable) -> tuple[str, str]:
    """Return two other sentences with this row's word: one in which it has another sense, then one with this row's sense."""
    word, sense = frame.loc[row, ["word", "sense"]]
    others = frame[(frame["word"] == word) & (frame.index != row)]
    same = others["sense"] == sense
    return others["sentence"][~same].iloc[0], others["sentence"][same].iloc[0]
