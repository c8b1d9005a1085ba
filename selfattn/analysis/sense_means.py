"""Compute the mean vector of each sense of a word from labelled sentences, and the vector from a sense to the other senses."""

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
WITHIN = 0.95  # a sentence fits a sense if its distance is at most this quantile of the labelled rows' distances


class LabelledRow(NamedTuple):
    """A labelled sentence of a word."""

    sense: str
    sentence: str
    place: float  # as in `WayBetweenSenses`; the mean of its sense leaves out this sentence


@dataclass(frozen=True, eq=False, kw_only=True)
class SenseMeans:
    """A word's senses in labelled sentences, for one encoder."""

    word: str
    senses: tuple[str, ...]  # in alphabetical order
    means: Tensor  # (n_senses, d_model) float64: means of the word's last-layer unit vectors, not scaled to length 1
    counts: tuple[int, ...]  # the number of labelled rows of each sense
    within: float  # the 95 % quantile of squared distances between a row and the mean of its sense's other rows
    rows: dict[tuple[int, ...], LabelledRow]  # keyed by the sentence's token ids

    def way(self, sentence: Tokens, unit: Tensor) -> "WayBetweenSenses":
        """Return the vector from a sense's mean to the mean of the other senses' means, and the word's place along it.

        unit (d_model,): the word's last-layer vector, scaled to length 1.
        A labelled sentence has the sense of its label and is left out of the mean of that sense. Any other sentence has the
        sense of the nearest mean.
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
    """The vector from a sense's mean to the mean of the other senses' means (`axis`), and a word's place along it."""

    sense: str  # the sentence's label or, without a label, `nearest`
    nearest: str  # the sense of the nearest mean
    axis: Tensor  # (d_model,)
    place: float  # the word's projection on the axis: 0 at its sense's mean, 1 at the mean of the others
    distance: float  # squared distance of the word's vector from its sense's mean
    fits: bool  # True if the sentence is labelled or the distance is at most `SenseMeans.within`


def sense_means(encoder: Encoder, frame: pd.DataFrame, word: str) -> SenseMeans:
    """Compute the means of a word's senses. frame: labelled sentences, with the columns sentence, word, sense.

    Rows of other words are ignored. The word needs at least two senses with at least four rows each. Raises ValueError if a
    column is missing or no row can be used.
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
    """Return one word's usable rows. The column `placed` has a PlacedWord. Raises the same errors as `sense_means`."""
    if list(frame.columns).count("word") == 1:
        of_word = frame["word"].map(lambda each: isinstance(each, str) and fold(each.strip()) == fold(word))
        if not of_word.any():
            raise ValueError(f"The table has no labelled sentences of {word!r}. Add some, or leave senses out.")
        frame = frame[of_word]
    return require_rows(encoder, frame, per_sense=PER_SENSE)[0]


def last_units(encoder: Encoder, words: Sequence[PlacedWord]) -> Tensor:
    """Return each word's last hidden state (the mean of the pieces of a split word) as a unit vector: (n, d_model) float64."""
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
    """Return a word's sense in one sentence, and the cosines (n,) of its last-layer vector with its vectors in n other sentences.

    The other sentences are the n labelled sentences of the same sense, without the sentence itself. rows: the result of `rows_of`
    for the table of `means`. units: `last_units`, or a cached version. The result is None if the sentence fits no sense.
    """
    encoding = encoder.encoded(word)
    unit = normalize(encoding.vector(encoder.n_layers, word.positions).double(), dim=0)
    taken = means.way(encoding, unit)
    if not taken.fits:
        return None
    placed = rows.loc[rows["sense"] == taken.sense, "placed"].tolist()
    others = [other.sentence.ids != encoding.ids for other in placed]
    return taken.sense, (units(encoder, placed) @ unit).float()[others]
