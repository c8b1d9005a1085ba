"""Score how well each head attends from a pronoun to the right one of two nouns.

Sources: Winograd 1972, Levesque et al. 2012 (the task); Clark et al. 2019, section 4.3.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from selfattn.encoders.capture import Head
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.examples import PronounSentence
from selfattn.lessons.encoded_words import first_word, weight_on

SHUFFLES = 1000


@dataclass(frozen=True, eq=False)
class PronounRows:
    """A pronoun, two nouns, and the pronoun's weights in every head."""

    rows: Tensor  # the pronoun's weights (n_layers, n_heads, n), averaged over its tokens
    pronoun: PlacedWord[Encoding]
    antecedent: PlacedWord[Encoding]
    distractor: PlacedWord[Encoding]

    @property
    def preference(self) -> Tensor:
        """The pronoun's weight on the antecedent minus its weight on the distractor, (n_layers, n_heads)."""
        return weight_on(self.rows, self.antecedent) - weight_on(self.rows, self.distractor)


@dataclass(frozen=True, eq=False)
class PronounWeights:
    """The weights from pronouns to both nouns. Each array is (n_sentences, n_layers, n_heads)."""

    antecedent: np.ndarray
    distractor: np.ndarray
    by_distance: np.ndarray  # `preference`, if the weights depended on distance alone

    @property
    def preference(self) -> Tensor:
        """Each pronoun's weight on the antecedent minus its weight on the distractor."""
        return torch.from_numpy(self.antecedent - self.distractor)


@dataclass(frozen=True)
class ChosenHead:
    """The best head on half of the sentences, scored on the other half."""

    head: Head
    chosen_with: float  # accuracy on the half that chose the head; biased upward
    accuracy: float  # accuracy on the other half
    p_value: float  # chance that coin flips are right at least as often (binomial, one-sided)
    position_only: float  # accuracy on the other half if weights depended only on distance
    n: int  # sentences in the other half
    luck: float  # 95th percentile of the best head's accuracy by luck

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the 95 % confidence interval of `accuracy`, as fractions (Wilson 1927)."""
        part, p = 1.959964**2 / self.n, self.accuracy
        half = (part * (p * (1 - p) + part / 4)) ** 0.5
        return (p + part / 2 - half) / (1 + part), (p + part / 2 + half) / (1 + part)


def pronoun_rows(encoding: Encoding, sentence: PronounSentence) -> PronounRows:
    """Find the pronoun and both nouns. Raises ValueError if a word is missing."""
    antecedent, distractor = (first_word(encoding, noun) for noun in (sentence.antecedent, sentence.distractor))
    pronoun = first_word(encoding, sentence.pronoun, after=max(antecedent.positions[0], distractor.positions[0]))
    return PronounRows(encoding.word_rows(pronoun.positions), pronoun, antecedent, distractor)


def pronoun_weights(sentences: Sequence[PronounRows]) -> PronounWeights:
    """Return each sentence's weights from the pronoun to both nouns."""
    antecedent = torch.stack([weight_on(each.rows, each.antecedent) for each in sentences])
    distractor = torch.stack([weight_on(each.rows, each.distractor) for each in sentences])
    return PronounWeights(antecedent.numpy(), distractor.numpy(), position_only(sentences).numpy())


def accuracy(preferences: Tensor) -> Tensor:
    """Return how often the antecedent gets more weight than the distractor, 0 to 1; a tie counts half.

    (n_sentences, n_layers, n_heads) -> (n_layers, n_heads)
    """
    return (preferences > 0).double().mean(0) + (preferences == 0).double().mean(0) / 2


def position_only(sentences: Sequence[PronounRows]) -> Tensor:
    """Return what each `preference` would be if weights depended on distance alone: (n_sentences, n_layers, n_heads).

    The weight at a distance is the head's mean weight at this distance in the *other* sentences.
    """
    longest = max(each.rows.shape[-1] for each in sentences)
    # Each sentence's weights, shifted so that the pronoun is in the middle
    aligned = torch.full((len(sentences), *sentences[0].rows.shape[:2], 2 * longest), math.nan)
    spans = []
    for each, room in zip(sentences, aligned):
        start = longest - each.pronoun.positions[0]
        spans.append(slice(start, start + each.rows.shape[-1]))
        room[..., spans[-1]] = each.rows
    as_if = []
    for place, (each, span) in enumerate(zip(sentences, spans)):
        others = torch.cat([aligned[:place], aligned[place + 1 :]])[..., span]
        rows = others.nanmean(0).nan_to_num()  # 0 for a distance that no other sentence has
        as_if.append(replace(each, rows=rows).preference)
    return torch.stack(as_if)


def halves(sentences: Sequence[PronounSentence]) -> tuple[list[int], list[int]]:
    """Split sentence indices into halves. Sentences with the same `twin` go into the same half."""
    groups: dict[str, list[int]] = {}
    for index, sentence in enumerate(sentences):
        groups.setdefault(sentence.twin or f"alone {index}", []).append(index)
    first, second = ([index for group in list(groups.values())[start::2] for index in group] for start in (0, 1))
    return first, second


def luck(preferences: Tensor) -> float:
    """Return the 95th percentile of the best head's accuracy if coin flips decided which noun is right."""
    n = len(preferences)
    coins = torch.randint(0, 2, (SHUFFLES, n), generator=torch.Generator().manual_seed(0)).double() * 2 - 1
    signs = torch.sign(preferences.double()).flatten(1)
    best = (0.5 + coins @ signs / (2 * n)).amax(1)
    return float(best.quantile(0.95))


def choose_head(weights: PronounWeights, choose_on: Sequence[int], score_on: Sequence[int]) -> ChosenHead:
    """Choose the head with the highest accuracy on some sentences; compute its accuracy on others."""
    preferences, by_distance = weights.preference, torch.from_numpy(weights.by_distance)
    choosing = accuracy(preferences[list(choose_on)])
    head = Head(*divmod(int(choosing.argmax()), choosing.shape[1]))
    score, n = float(accuracy(preferences[list(score_on)])[head]), len(score_on)
    return ChosenHead(
        head=head,
        chosen_with=float(choosing[head]),
        accuracy=score,
        p_value=sum(math.comb(n, right) for right in range(int(score * n), n + 1)) / 2**n,
        position_only=float(accuracy(by_distance[list(score_on)])[head]),
        n=n,
        luck=luck(preferences[list(choose_on)]),
    )
