"""Which heads look from a pronoun to the noun it stands for? Scored with a position-only baseline (systems S15, S17).

Source: the task is Winograd's (1972; Levesque et al. 2012); looking for it in heads: Clark et al. 2019, section 4.3.
The best of many heads on the same sentences is luck in part, so it is chosen on one half and scored on the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from selfattn.encoders.encoding import Encoding
from selfattn.examples import PronounSentence
from selfattn.words import find

SHUFFLES = 1000


@dataclass(frozen=True, eq=False)
class Looks:
    """From the pronoun of one sentence: what each head gives each token, and where the two nouns stand."""

    rows: Tensor  # (n_layers, n_heads, n) mean over the pronoun's pieces
    pronoun: int  # its first token
    antecedent: tuple[int, ...]
    distractor: tuple[int, ...]

    @property
    def preference(self) -> Tensor:
        """(n_layers, n_heads): weight on the antecedent minus weight on the distractor, a split noun's pieces summed."""
        return self.rows[..., list(self.antecedent)].sum(-1) - self.rows[..., list(self.distractor)].sum(-1)


@dataclass(frozen=True)
class Verdict:
    """One head: chosen on one half of the sentences, scored on the other."""

    layer: int
    head: int
    chosen_with: float  # its accuracy on the half it was chosen on: flattered
    accuracy: float  # on the other half
    position_only: float  # there, had it looked by distance alone
    n: int  # sentences in the other half
    luck: float  # the accuracy that the best of all heads reaches by luck on the choosing half (95th percentile)


def look(encoding: Encoding, sentence: PronounSentence) -> Looks:
    """Find the three words in the encoded sentence and read the pronoun's rows; ValueError where one is missing."""
    nouns = [_place(encoding, noun, 0) for noun in (sentence.antecedent, sentence.distractor)]
    pronoun = _place(encoding, sentence.pronoun, max(noun[0] for noun in nouns))
    rows = torch.stack([encoding.rows(place) for place in pronoun]).mean(0)
    return Looks(rows, pronoun[0], *nouns)


def accuracy(preferences: Tensor) -> Tensor:
    """(n_sentences, n_layers, n_heads) -> (n_layers, n_heads): how often the antecedent wins; a tie counts a half."""
    return (preferences > 0).double().mean(0) + (preferences == 0).double().mean(0) / 2


def position_only(looks: Sequence[Looks]) -> Tensor:
    """(n_sentences, n_layers, n_heads): the preference each head would have had, had it looked by distance alone.

    The weight at each distance from the pronoun is averaged over the *other* sentences.
    """
    reach = max(max(seen.pronoun, seen.rows.shape[-1] - seen.pronoun) for seen in looks)
    aligned = torch.zeros(len(looks), *looks[0].rows.shape[:2], 2 * reach + 1)
    counts = torch.zeros(len(looks), 2 * reach + 1)
    for place, seen in enumerate(looks):
        start = reach - seen.pronoun
        aligned[place, ..., start : start + seen.rows.shape[-1]] = seen.rows
        counts[place, start : start + seen.rows.shape[-1]] = 1
    others = (counts.sum(0) - counts).clamp_min(1)
    means = (aligned.sum(0) - aligned) / others[:, None, None]
    return torch.stack([_preference_at(mean, seen, reach) for mean, seen in zip(means, looks)])


def halves(sentences: Sequence[PronounSentence]) -> tuple[list[int], list[int]]:
    """The indices of two halves; twins, which differ in one word, stay together."""
    groups: dict[str, list[int]] = {}
    for place, sentence in enumerate(sentences):
        groups.setdefault(sentence.twin or f"alone {place}", []).append(place)
    first = [place for group in list(groups.values())[::2] for place in group]
    second = [place for group in list(groups.values())[1::2] for place in group]
    return first, second


def luck(preferences: Tensor, seed: int = 0, shuffles: int = SHUFFLES) -> float:
    """The 95th percentile of the best head's accuracy when, in each sentence, a coin decides which noun is right."""
    n = len(preferences)
    coins = torch.randint(0, 2, (shuffles, n), generator=torch.Generator().manual_seed(seed)).double() * 2 - 1
    signs = torch.sign(preferences.double()).flatten(1)
    best = (0.5 + coins @ signs / (2 * n)).amax(1)
    return float(best.quantile(0.95))


def verdict(looks: Sequence[Looks], choose_on: Sequence[int], score_on: Sequence[int]) -> Verdict:
    """Choose the best head on some sentences, score it on others."""
    preferences = torch.stack([seen.preference for seen in looks])
    chosen = accuracy(preferences[list(choose_on)])
    layer, head = divmod(int(chosen.argmax()), chosen.shape[1])
    baseline = accuracy(position_only(looks)[list(score_on)])
    return Verdict(
        layer,
        head,
        float(chosen[layer, head]),
        float(accuracy(preferences[list(score_on)])[layer, head]),
        float(baseline[layer, head]),
        len(score_on),
        luck(preferences[list(choose_on)]),
    )


def _preference_at(mean: Tensor, seen: Looks, reach: int) -> Tensor:
    shift = reach - seen.pronoun
    to = [[place + shift for place in noun] for noun in (seen.antecedent, seen.distractor)]
    return mean[..., to[0]].sum(-1) - mean[..., to[1]].sum(-1)


def _place(encoding: Encoding, word: str, after: int) -> tuple[int, ...]:
    """The token positions of the first `word` that starts at or after token `after`."""
    for index in find(encoding.words, word):
        if encoding.words[index].start >= after:
            return encoding.words[index].positions
    raise ValueError(f"Expected the word {word!r} in {encoding.text!r}. Check its spelling.")
