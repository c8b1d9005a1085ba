"""Does the negated word look at its negator, more than at whatever stands there otherwise? (system S16)

Source: the published lesson prints an illustrative row of "good" in the movie sentence; the comparison is ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from selfattn.encoders.encoding import Encoding
from selfattn.examples import Negation
from selfattn.words import find, to_groups

# The row of "good" that the source prints for "The movie was not good , but the soundtrack was amazing ."
ILLUSTRATIVE_ROW = (0.01, 0.02, 0.03, 0.55, 0.10, 0.02, 0.05, 0.02, 0.03, 0.05, 0.11, 0.01)


@dataclass(frozen=True, eq=False)
class NegatorLook:
    """What the negated word gives its negator, and what it gives the word at that place in the plain sentence."""

    negator: Tensor  # (n_layers, n_heads)
    instead: Tensor  # (n_layers, n_heads) in the plain sentence, the word at the same distance

    @property
    def gain(self) -> Tensor:
        """(n_layers, n_heads) the first minus the second: what the negator draws beyond its place."""
        return self.negator - self.instead


def look(negated: Encoding, plain: Encoding, pair: Negation) -> NegatorLook:
    """Both sentences of a pair, by words; ValueError where a word is missing."""
    target, negator = _index(negated, pair.target_word), _index(negated, pair.negator)
    same_place = _index(plain, pair.target_word) + negator - target
    if same_place < 0:
        raise ValueError(f"Expected a word before {pair.target_word!r} in {plain.text!r}. Choose a longer sentence.")
    return NegatorLook(
        word_row(negated, target)[..., negator], word_row(plain, _index(plain, pair.target_word))[..., same_place]
    )


def mean_look(looks: Sequence[NegatorLook]) -> NegatorLook:
    """The mean over several pairs."""
    return NegatorLook(
        torch.stack([seen.negator for seen in looks]).mean(0), torch.stack([seen.instead for seen in looks]).mean(0)
    )


def word_row(encoding: Encoding, index: int) -> Tensor:
    """(n_layers, n_heads, n_words): what word number `index` gives each word; special tokens left out."""
    row = torch.stack([encoding.rows(place) for place in encoding.words[index].positions]).mean(0)
    return to_groups(row, [word.positions for word in encoding.words])


def _index(encoding: Encoding, word: str) -> int:
    found = find(encoding.words, word)
    if not found:
        raise ValueError(f"Expected the word {word!r} in {encoding.text!r}. Check its spelling.")
    return found[0]
