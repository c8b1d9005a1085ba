"""Does the negated word attend to its negator, more than to whatever stands there otherwise?

Source: the published lesson prints an illustrative row of "good" in the movie sentence; the comparison is ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from selfattn.encoders.encoding import Encoding
from selfattn.examples import Negation
from selfattn.lessons.encoded_words import first_word, weight_on
from selfattn.words import split_words, to_groups

# The row of "good" that the source prints for "The movie was not good , but the soundtrack was amazing ."
ILLUSTRATIVE_ROW = (0.01, 0.02, 0.03, 0.55, 0.10, 0.02, 0.05, 0.02, 0.03, 0.05, 0.11, 0.01)
POSITIVE, NEGATIVE = ("good", "amazing", "great"), ("bad", "boring", "awful")


def bag_of_words(text: str) -> tuple[int, int]:
    """How many positive and how many negative words stand in a text: all that a model sees that counts words."""
    words = [word.lower() for word in split_words(text)]
    return sum(word in POSITIVE for word in words), sum(word in NEGATIVE for word in words)


@dataclass(frozen=True, eq=False)
class NegatorWeights:
    """What the negated word gives its negator, and what it gives the word at that place in the plain sentence."""

    negator: Tensor  # (n_layers, n_heads)
    instead: Tensor  # (n_layers, n_heads) in the plain sentence, the word at the same distance

    @property
    def gain(self) -> Tensor:
        """(n_layers, n_heads) the first minus the second: what the negator draws beyond its place."""
        return self.negator - self.instead


def negator_weights(negated: Encoding, plain: Encoding, pair: Negation) -> NegatorWeights:
    """Both sentences of a pair, by words; ValueError where a word is missing."""
    target, negator = first_word(negated, pair.target_word), first_word(negated, pair.negator)
    plain_target = first_word(plain, pair.target_word)
    steps = negated.words.index(negator.word) - negated.words.index(target.word)
    same_place = plain.words.index(plain_target.word) + steps
    if same_place < 0:
        raise ValueError(f"Expected a word before {pair.target_word!r} in {plain.text!r}. Choose a longer sentence.")
    return NegatorWeights(
        negator=weight_on(negated.word_rows(target.positions), negator),
        instead=weight_on(plain.word_rows(plain_target.positions), plain.words[same_place]),
    )


def mean_weights(pairs: Sequence[NegatorWeights]) -> NegatorWeights:
    """The mean over several pairs."""
    sides = ([pair.negator for pair in pairs], [pair.instead for pair in pairs])
    return NegatorWeights(*(torch.stack(side).mean(0) for side in sides))


def row_by_words(encoding: Encoding, index: int) -> Tensor:
    """(n_layers, n_heads, n_words): what word number `index` gives each word; special tokens left out."""
    return to_groups(encoding.word_rows(encoding.words[index].positions), [word.positions for word in encoding.words])
