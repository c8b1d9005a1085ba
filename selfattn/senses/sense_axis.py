"""The axis between a word's senses, and what swapping a head's output moves along it: the algebra of the swap.

Row i of a word has a unit vector u_i, and for each head the vector z_i that it hands the word. Its axis is the unit mean of
its own sense's other u_j minus the unit mean of the other senses', so a sum over rows j with weights a_ij. All that the
gradient has to say about a word is in U_ij = u_i . u_j, S_ij (the slope of U_ij along the head's own context) and T_ijk
(along z_k): effects under any labels and any resample of the rows are sums over them. No row is axis and donor at once: for
row j's part of the axis, j isn't among the donors, or the donors' own noise would lie on the axis.
Arrays are float64; R is the number of draws (labellings, resamples or halves), n that of rows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

BLOCK = 2**22  # coefficients (R, n, n, n) held at once
HELD = 2**25  # numbers of T held at once; of more rows some heads at a time


@dataclass(frozen=True, eq=False, kw_only=True)
class Draws:
    """R ways to label and to weigh a word's rows, each (R, n)."""

    senses: Tensor  # whole numbers from 0
    rows: Tensor  # each row's weight in the means over a sense
    axis: Tensor  # its weight in the axes of other rows
    donors: Tensor  # its weight in the outputs that are put in

    @classmethod
    def of(cls, senses: np.ndarray, weights: np.ndarray) -> "Draws":
        """The same weights for every use: how often each row was drawn, or whether it is in the half."""
        senses, weights = np.broadcast_arrays(senses, weights.astype(np.float64))
        weights = torch.from_numpy(weights.copy())
        return cls(senses=torch.from_numpy(senses.astype(np.int64)), rows=weights, axis=weights, donors=weights)

    def split(self, size: int) -> Iterator["Draws"]:
        """Some of the draws at a time."""
        for some in zip(*(each.split(size) for each in vars(self).values())):
            yield Draws(**dict(zip(vars(self), some)))

    @property
    def n_senses(self) -> int:
        """How many senses the word has; every draw has them all."""
        return int(self.senses[0].max()) + 1

    @property
    def same(self) -> Tensor:
        """1 where two rows have one sense, (R, n, n)."""
        return (self.senses[:, :, None] == self.senses[:, None, :]).double()

    @property
    def row_means(self) -> Tensor:
        """The weights (R, n) of a mean over the rows of a sense, then over its senses."""
        return self.rows / _times(self.same, self.rows) / self.n_senses


def axes(draws: Draws, gram: Tensor) -> Tensor:
    """a_ij, (R, n, n): each row's axis as weights on the unit vectors, whose products are gram (n, n)."""
    same, apart = draws.same, _apart(len(gram))
    own = same * apart * draws.axis[:, None]
    other = (1 - same) * (draws.axis / _times(same, draws.axis))[:, None]
    own, other = (part / ((part @ gram) * part).sum(-1, keepdim=True).sqrt() for part in (own, other))
    return own - other


def gaps(draws: Draws, gram: Tensor) -> Tensor:
    """Twice the mean of r_i = u_i . a_i, (R,)."""
    return 2 * (draws.row_means * (axes(draws, gram) * gram).sum(-1)).sum(-1)


def donors(draws: Draws, own: bool) -> tuple[Tensor, Tensor]:
    """Donor k's weight for row i, (R, n, n), and for each i what is left of these weights without row j, (R, n, n).

    own: donors of i's own sense without i (the control); else those of the other senses, each sense with the same weight.
    """
    same, apart = draws.same, _apart(draws.senses.shape[1])
    total = _times(same, draws.donors)  # (R, n): the donors in each row's sense
    if own:
        given = same * apart * draws.donors[:, None]
        left = (total - draws.donors)[..., None] - given
        return given, torch.where(draws.axis[:, None] > 0, left, 1.0)  # no part of the axis: never used, and may be 0
    given = (1 - same) * (draws.donors / total / (draws.n_senses - 1))[:, None]
    return given, 1 - given


def donor_weights(draws: Draws, own: bool) -> Tensor:
    """The weight of donor k for row i and part j of its axis, (R, n, n, n), summing to 1 over k.

    Never j: the weights of all that remain are rescaled together.
    """
    given, left = donors(draws, own)
    return given[:, :, None] * _apart(given.shape[-1]) / left[..., None]


@dataclass(frozen=True, eq=False, kw_only=True)
class WordSlopes:
    """What the gradient says about one word: its n rows, each with the slopes of its products with all of them."""

    gram: Tensor  # (n, n): U_ij
    slopes: Tensor  # (n, n, n_heads, d_head): G_ij, summed over a split word's pieces
    along_own: Tensor  # (n, n, n_heads): S_ij
    outputs: Tensor  # (n, n_heads, d_head): z_k

    def effects(self, draws: Draws) -> tuple[Tensor, Tensor]:
        """Mean effect and mean control of every head, (R, n_heads) each, in units of r."""
        weights = draws.row_means[..., None] * axes(draws, self.gram)
        kept = torch.einsum("rij,ijh->rh", weights, self.along_own)
        return kept - self._swapped(draws, {False: 1}), kept - self._swapped(draws, {True: 1})

    def differences(self, draws: Draws) -> Tensor:
        """D, the mean effect minus the mean control of every head, (R, n_heads): what each moves beyond its control."""
        return self._swapped(draws, {True: 1, False: -1})

    def _swapped(self, draws: Draws, kinds: Mapping[bool, int]) -> Tensor:
        """The means with outputs put in, the own sense's (True) and the others', each times its sign: (R, n_heads)."""
        n, n_heads = len(self.gram), self.slopes.shape[2]
        means = torch.zeros(len(draws.senses), n_heads, dtype=torch.float64)
        size, step = max(1, HELD // n**3), max(1, BLOCK // n**3)
        for heads in (slice(first, first + size) for first in range(0, n_heads, size)):
            toward = self._toward(heads)
            for into, some in zip(means.split(step), draws.split(step)):
                weights = some.row_means[..., None] * axes(some, self.gram)
                coefficients = weights.new_zeros(*weights.shape, n)
                for own, sign in kinds.items():
                    given, left = donors(some, own)
                    # Those of `donor_weights`, but for k = j, where `toward` is 0.
                    coefficients.addcmul_((weights / left)[..., None], given[:, :, None], value=sign)
                into[:, heads] = coefficients.flatten(1) @ toward
        return means

    def _toward(self, heads: slice) -> Tensor:
        """T_ijk of some heads, (n * n * n, heads); 0 where k is j, which is never the donor then."""
        toward = torch.einsum("ijhd,khd->ijkh", self.slopes[:, :, heads], self.outputs[:, heads]).double()
        return toward.mul_(_apart(len(self.gram))[..., None]).flatten(0, 2)


def _times(matrices: Tensor, vectors: Tensor) -> Tensor:
    """(R, n, n) times (R, n) -> (R, n)."""
    return (matrices @ vectors[..., None])[..., 0]


def _apart(n: int) -> Tensor:
    """0 on the diagonal, 1 elsewhere: (n, n)."""
    return 1 - torch.eye(n, dtype=torch.float64)
