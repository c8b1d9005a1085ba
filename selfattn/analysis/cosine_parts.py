"""Split the cosine of two sentences into one part for each pair of words.

With mean pooling, cos(a, b) is the sum of h_i . h_j / (n m |a| |b|) over tokens i of one sentence and j of the other.
h: last hidden states; a, b: the sentence vectors (means of h); n, m: the sentences' numbers of tokens.
A part isn't the effect of hiding the two words, because attention mixes words.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import pandas as pd
import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, normalize

from selfattn.analysis.targets import changed
from selfattn.encoders.encoder import Encoder, Progress, half_of, silent
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import Tokens
from selfattn.encoders.pooling import NoPooling, Pooling, load_pooling
from selfattn.words import numbered

SPECIAL = "special"  # label for all tokens outside words
AVERAGES = ("mean", "mean_sqrt_len_tokens")  # modes of pooling that average every token


@dataclass(frozen=True, eq=False, kw_only=True)
class CosineParts:
    """The cosine of two sentences as a sum over pairs of words."""

    a: Encoding
    b: Encoding
    cosine: float  # of the two sentence vectors
    table: Tensor  # (n_words_a + 1, n_words_b + 1) float64; last: special tokens

    @cached_property
    def interaction(self) -> Tensor:
        """Each word pair's part of `cosine` minus its row's and column's means, plus the overall mean: (n_words_a, n_words_b)."""
        words = self.table[:-1, :-1]
        return words - words.mean(dim=1, keepdim=True) - words.mean(dim=0) + words.mean()

    @property
    def of_special(self) -> float:
        """The sum of the parts of all pairs that contain a special token."""
        return float(self.table.sum() - self.table[:-1, :-1].sum())

    @property
    def difference(self) -> float:
        """The sum of all parts minus the cosine."""
        return float(self.table.sum()) - self.cosine

    @cached_property
    def parts(self) -> pd.DataFrame:
        """A row for each pair of words: word_a, word_b, part, interaction.

        part: how much the pair adds to the cosine. interaction: see the property `interaction`; NaN for special tokens.
        Repeated words are numbered: "the (2)". The label "special" stands for all special tokens together.
        """
        rows, columns = ([*numbered([word.label for word in side.words]), SPECIAL] for side in (self.a, self.b))
        interaction = torch.full_like(self.table, torch.nan)
        interaction[:-1, :-1] = self.interaction
        pairs = pd.DataFrame(product(rows, columns), columns=["word_a", "word_b"])
        return pairs.assign(part=self.table.flatten().tolist(), interaction=interaction.flatten().tolist())

    def joined(self, most: int = 5, a: int | None = None, b: int | None = None) -> list[tuple[int, int]]:
        """Return up to `most` pairs of words with the largest positive `interaction`.

        a: index of a word of the first sentence that every pair must contain. b: the same for the second sentence.
        """
        named = [
            [at for at, word in enumerate(side.words) if not word.is_punctuation and only in (None, at)]
            for side, only in ((self.a, a), (self.b, b))
        ]
        pairs = [(i, j) for i, j in product(*named) if self.interaction[i, j] > 0]
        return sorted(pairs, key=lambda pair: -float(self.interaction[pair]))[:most]


def cosine_parts(
    encoder: Encoder, a: str | Encoding, b: str | Encoding, *, pooling: Pooling | None = None
) -> CosineParts:
    """Split the cosine of two sentences into one part for each pair of words.

    Without `pooling`, the pooling is read from the encoder's folder.
    Raises TextError, and NoPooling for pooling other than the mean.
    """
    pooling = pooling or load_pooling(encoder)
    if pooling.mode not in AVERAGES:
        raise NoPooling(
            f"{encoder.title} has the pooling mode {pooling.mode}, so the texts' cosine can't be divided between words. Choose "
            "an encoder with mean pooling, or measure the effect of hiding each word."
        )
    sides = [each if isinstance(each, Encoding) else encoder.encode(each) for each in (a, b)]
    vectors, sums, lengths = [], [], []
    for side in sides:
        vectors.append(side.vector(encoder.n_layers, pooling.positions(side)))
        states = side.states[-1].double()
        groups = states.new_zeros(len(side.words) + 1, len(states))
        for row, word in zip(groups, side.words):
            row[list(word.positions)] = 1
        groups[-1] = 1 - groups[:-1].sum(dim=0)
        sums.append(groups @ states)
        lengths.append(states.sum(dim=0).norm())
    table = sums[0] @ sums[1].T / (lengths[0] * lengths[1])
    return CosineParts(a=sides[0], b=sides[1], cosine=float(cosine_similarity(*vectors, dim=0)), table=table)


@dataclass(frozen=True, eq=False)
class SentenceVector:
    """A target, as in `selfattn.analysis.targets`, whose value is the sentence's unit vector."""

    positions: tuple[int, ...]

    def of(self, states: Tensor) -> Tensor:
        """Return the unit vector of the mean of p hidden states: (..., p, d_model) -> (..., d_model)."""
        return normalize(states.mean(dim=-2), dim=-1)


def hidden_cosines(encoder: Encoder, pooling: Pooling, a: Tokens, b: Tokens, *, progress: Progress = silent) -> Tensor:
    """Return the cosine of two sentence vectors if a word is hidden in each sentence: (n_words_a + 1, n_words_b + 1).

    [i + 1, j + 1]: word i of a and word j of b are hidden. Index 0: no word is hidden. NaN if a sentence has no token left.
    Raises TextError.
    """
    vectors = []
    for half, side in enumerate((a, b)):
        target, hidden = SentenceVector(pooling.positions(side)), [(), *(word.positions for word in side.words)]
        vectors.append(changed(encoder, side, target, hidden, progress=half_of(progress, half)))
    return vectors[0] @ vectors[1].T
