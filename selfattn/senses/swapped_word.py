"""One word in its labelled sentences, with heads' outputs at it swapped for those of other sentences: to first order, and run."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch.nn.functional import normalize

from selfattn.analysis.gradients import ContextGradients, context_gradients
from selfattn.encoders.batches import length_batches
from selfattn.encoders.capture import Patch
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.placed_word import PlacedWord
from selfattn.encoders.reference import own_weights
from selfattn.senses.sense_axis import Draws, WordSlopes, axes, donor_weights, gaps
from selfattn.senses.word_vectors import word_vectors

A_PASS = 4  # rows that are differentiated together
SOURCES = ["word", "row", "layer", "head", "token", "text", "share"]
# A row's part of WordSlopes, (n, n_heads, d_head) and (n, n_heads), and its sources.
RowSlopes = tuple[Tensor, Tensor, pd.DataFrame]


@dataclass(frozen=True, eq=False, kw_only=True)
class SwappedWord:
    """One word's n rows as the encoder runs them."""

    encoder: Encoder
    name: str
    labels: list  # n: the table's index labels
    placed: list[PlacedWord]  # n
    senses: np.ndarray  # (n,) whole numbers from 0
    units: Tensor  # (n, d_model) float64
    outputs: Tensor  # (n, n_layers, n_heads, d_head)

    @classmethod
    def read(cls, encoder: Encoder, name: str, rows: pd.DataFrame) -> "SwappedWord":
        """Of usable rows."""
        placed = list(rows["placed"])
        vectors = word_vectors(encoder, placed)
        return cls(
            encoder=encoder,
            name=name,
            labels=list(rows.index),
            placed=placed,
            senses=np.unique(rows["sense"].to_numpy(dtype=str), return_inverse=True)[1],
            units=normalize(vectors.layers[:, -1].double(), dim=1),
            outputs=vectors.context,
        )

    @cached_property
    def gram(self) -> Tensor:
        """The unit vectors' products (n, n)."""
        return self.units @ self.units.T

    @cached_property
    def once(self) -> Draws:
        """The rows as they stand."""
        return Draws.of(self.senses[None], np.ones(self.senses.shape))

    def folds(self, among: np.ndarray) -> list[Draws]:
        """Rows among (n,) bool dealt alternately in each sense, in the table's order: one part's axis, the other's donors."""
        fold = np.where(among, pd.Series(among.astype(int)).groupby(self.senses).cumsum().to_numpy() % 2, -1)
        rows, *halves = (torch.from_numpy(of.astype(np.float64))[None] for of in (among, fold == 1, fold == 0))
        return [replace(self.once, rows=rows, axis=axis, donors=donors) for axis, donors in (halves, halves[::-1])]

    def slopes(self) -> Iterator[tuple[int, RowSlopes]]:
        """What the gradient says of each row, with its number; A_PASS rows of like length are differentiated together.

        Raises NotRecomputable where the encoder can't be differentiated.
        """
        lengths = [len(at.sentence.ids) for at in self.placed]
        for batch in length_batches(range(len(lengths)), lengths.__getitem__, sys.maxsize, self.encoder.equal_lengths):
            together = sorted(batch, key=lengths.__getitem__)
            for first in range(0, len(together), A_PASS):
                rows = together[first : first + A_PASS]
                found = context_gradients(self.encoder, [self.placed[i] for i in rows], self.units)
                yield from ((i, self._row_slopes(i, own)) for i, own in zip(rows, found))

    def _row_slopes(self, i: int, found: ContextGradients) -> RowSlopes:
        gradient = found.gradient
        slopes = gradient.sum(dim=-2).flatten(1, 2)
        along_own = (gradient * found.context).sum(dim=(-2, -1)).flatten(1)
        axis, donors = axes(self.once, self.gram)[0, i].float(), donor_weights(self.once, own=False)[0, i].float()
        slope = torch.einsum("j,jlhpd->lhpd", axis, gradient)
        # What the donors would have handed over, along the axis: row j's part of it, without j among the donors.
        swapped = torch.einsum("j,jlhpd,jk,klhd->lhp", axis, gradient, donors, self.outputs)
        sentence, positions = self.placed[i].sentence, self.placed[i].positions
        shares = []
        for layer, recording in enumerate(found.recordings):
            weigh = recording.weights if self.encoder.recomputable else partial(own_weights, recording)
            weights = torch.stack([weigh(rows=slice(p, p + 1))[:, 0] for p in positions], dim=1)  # (h, p, n)
            along = slope[layer] @ recording.value[0].float().cpu().transpose(1, 2)  # (h, p, n)
            shares.append((weights * (along - swapped[layer][..., None])).sum(dim=1))
        share = torch.stack(shares).double().numpy()  # (n_layers, n_heads, n tokens)
        layer, head, token = np.indices(share.shape).reshape(3, -1)
        text = np.array(sentence.tokens, dtype=object)[token]
        columns = (self.name, [self.labels[i]] * len(token), layer, head, token, text, share.ravel())
        return slopes, along_own, pd.DataFrame(dict(zip(SOURCES, columns)))

    def joined(self, parts: Mapping[int, RowSlopes]) -> tuple[WordSlopes, pd.DataFrame]:
        """All rows' slopes and sources, from those of each by its number."""
        slopes, along_own, tables = zip(*(parts[i] for i in range(len(parts))))
        sources = pd.concat(tables, ignore_index=True)
        sources["share"] /= float(gaps(self.once, self.gram)[0])
        found = WordSlopes(
            gram=self.gram,
            slopes=torch.stack(slopes),
            along_own=torch.stack(along_own).double(),
            outputs=self.outputs.flatten(1, 2),
        )
        return found, sources

    def exactly(self, i: int, sets: Sequence[tuple], folds: Sequence[Draws] = ()) -> Tensor:
        """Effect and control of row i for sets of heads swapped together, by running them: (2, len(sets)), mean of both folds."""
        positions = self.placed[i].positions
        axis, patches = [], []
        for fold in folds or self.folds(np.ones(len(self.senses), dtype=bool)):
            weights = axes(fold, self.gram)[0, i]
            axis.append(weights @ self.units)
            part = int(weights.abs().argmax())  # any: no donor is on the axis, so they are the same for each part of it
            for own in (False, True):
                donor = torch.einsum("k,klhd->lhd", donor_weights(fold, own)[0, i, part].float(), self.outputs)
                patches += [
                    [Patch(layer, head, positions, donor[layer, head]) for layer, head in heads] for heads in sets
                ]
        after = normalize(self.encoder.changed_vectors(self.placed[i], patches).double(), dim=1)
        moved = (self.units[i] - after).unflatten(0, (2, 2, len(sets)))  # (fold, effect or control, sets, d_model)
        return torch.einsum("fcsd,fd->cs", moved, torch.stack(axis)) / 2

    def mean(self, swapped: Sequence[Tensor]) -> np.ndarray:
        """Over the rows, each sense with the same weight, of what `exactly` gives for each: (2, sets)."""
        return torch.einsum("i,ich->ch", self.once.row_means[0], torch.stack(swapped)).numpy()
