"""Compute the mean vector of each sense of a word."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch.nn.functional import normalize

from selfattn.analysis.usable_rows import require_rows
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.placed_word import PlacedWord, Tokens
from selfattn.words import fold

PER_SENSE = 4  # least number of rows for each sense
WITHIN = 0.95  # a sentence fits a sense up to this quantile of the distances


class LabelledRow(NamedTuple):
    """A sentence in which a word's sense is labelled."""

    sense: str
    sentence: str
    place: float  # as in `WayBetweenSenses`, without this sentence in the mean


@dataclass(frozen=True, eq=False, kw_only=True)
class SenseMeans:
    """The mean vectors of a word's senses over labelled sentences, for one encoder."""

    word: str
    senses: tuple[str, ...]  # in alphabetical order
    means: Tensor  # (n_senses, d_model) float64: means of unit vectors
    counts: tuple[int, ...]  # number of rows of each sense
    within: float  # 95 % quantile of the rows' squared distances from their means
    rows: dict[tuple[int, ...], LabelledRow]  # by the sentence's token ids

    def way(self, sentence: Tokens, unit: Tensor) -> "WayBetweenSenses":
        """Return the vector from the mean of the sentence's sense to the mean of the other senses.

        unit (d_model,): the word's last-layer unit vector. A sentence without a label gets the sense of the nearest mean.
        """
        once = len(sentence.places(self.word)) == 1  # always True for a labelled row
        means, row = self.means.clone(), self.rows.get(sentence.ids) if once else None
        if row is not None:
            index = self.senses.index(row.sense)
            means[index] = (self.counts[index] * means[index] - unit) / (self.counts[index] - 1)
        distance = (means - unit).square().sum(dim=1)
        nearest = int(distance.argmin())
        index = nearest if row is None else index
        others = torch.cat([means[:index], means[index + 1 :]]).mean(dim=0)
        axis = others - means[index]
        return WayBetweenSenses(
            sense=self.senses[index],
            nearest=self.senses[nearest],
            axis=axis,
            place=float((unit - means[index]) @ axis / axis.square().sum()),
            distance=float(distance[index]),
            fits=row is not None or float(distance[index]) <= self.within,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class WayBetweenSenses:
    """The vector from one sense's mean to the mean of the other senses, and where a word lies along this vector."""

    sense: str  # the sentence's label, else `nearest`
    nearest: str  # the sense whose mean is nearest to the word's vector
    axis: Tensor  # (d_model,)
    place: float  # 0 at the mean of the sense, 1 at the mean of the others
    distance: float  # squared distance from the mean of the sense
    fits: bool  # True if labelled, or near enough (`SenseMeans.within`)


def sense_means(encoder: Encoder, frame: pd.DataFrame, word: str) -> SenseMeans:
    """Compute the mean vector of each sense of a word. frame: columns sentence, word, sense.

    Raises ValueError if `check_rows` finds fewer than two senses of the word with four usable rows each.
    """
    usable = rows_of(encoder, frame, word)
    units, labels = last_units(encoder, usable["placed"]), usable["sense"]
    senses = sorted(set(labels))
    is_of_sense = torch.tensor([[label == sense for label in labels] for sense in senses], dtype=torch.float64)
    counts = is_of_sense.sum(dim=1)
    means = is_of_sense @ units / counts[:, None]
    at = is_of_sense.argmax(dim=0)  # each row's sense
    left = (counts[at][:, None] * means[at] - units) / (counts[at][:, None] - 1)
    axes = (means.sum(dim=0) - means[at]) / (len(senses) - 1) - left
    places = ((units - left) * axes).sum(dim=1) / axes.square().sum(dim=1)
    return SenseMeans(
        word=fold(word),
        senses=tuple(senses),
        means=means,
        counts=tuple(int(n) for n in counts),
        within=float(np.quantile((left - units).square().sum(dim=1).numpy(), WITHIN)),
        rows={
            one.sentence.ids: LabelledRow(label, one.sentence.text, place)
            for one, label, place in zip(usable["placed"], labels, places.tolist())
        },
    )


def rows_of(encoder: Encoder, frame: pd.DataFrame, word: str) -> pd.DataFrame:
    """Return the usable rows of one word (see `require_rows`). Raises ValueError if there are none."""
    if list(frame.columns).count("word") == 1:
        of_word = frame["word"].map(lambda each: isinstance(each, str) and fold(each.strip()) == fold(word))
        if not of_word.any():
            raise ValueError(
                f"The table has no labelled sentences of {word!r}. Add some, or leave out the argument 'senses'."
            )
        frame = frame[of_word]
    return require_rows(encoder, frame, per_sense=PER_SENSE)[0]


def last_units(encoder: Encoder, words: Sequence[PlacedWord]) -> Tensor:
    """Return each word's last hidden state as a unit vector: (n, d_model) float64."""
    encodings = encoder.encode_batch([word.sentence for word in words])
    vectors = [one.vector(encoder.n_layers, word.positions) for one, word in zip(encodings, words)]
    return normalize(torch.stack(vectors).double(), dim=1)


def within_sense(
    encoder: Encoder,
    rows: pd.DataFrame,
    means: SenseMeans,
    word: PlacedWord,
    units: Callable[[Encoder, Sequence[PlacedWord]], Tensor] = last_units,
) -> tuple[str, Tensor] | None:
    """Return a word's sense in its sentence, and the cosines (n,) of this occurrence with the word in n other sentences.

    The n sentences are labelled with the same sense. Returns None if the word's sentence fits no sense.
    rows: from `rows_of`. units: `last_units`, or a cached version.
    """
    encoding = encoder.encoded(word)
    unit = normalize(encoding.vector(encoder.n_layers, word.positions).double(), dim=0)
    taken = means.way(encoding, unit)
    if not taken.fits:
        return None
    placed = rows.loc[rows["sense"] == taken.sense, "placed"].tolist()
    others = [other.sentence.ids != encoding.ids for other in placed]
    return taken.sense, (units(encoder, placed) @ unit).float()[others]
