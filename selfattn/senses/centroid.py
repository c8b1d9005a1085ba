"""Nearest class centroid by cosine, leave-one-out, for many features and many labellings at once.

A sentence is compared with each sense's centroid, the normalised mean of the unit vectors of that sense's *other*
sentences. Everything follows from the cosines between the sentences, so shuffled labels cost no new vectors.
Source: Manning, Raghavan and Schuetze 2008, "Introduction to Information Retrieval", section 14.2 (Rocchio).
"""

import torch
from torch import Tensor

TIE = 1e-9  # cosines closer than this are equal: equal vectors may differ by rounding
CANCELLED = 1e-12  # a centroid shorter than this (squared) points nowhere


def cosines(vectors: Tensor) -> Tensor:
    """The cosines between n vectors of each feature: (n, ..., d) -> (..., n, n) float64; a zero vector's are 0."""
    unit = torch.nn.functional.normalize(vectors.double(), dim=-1).movedim(0, -2)
    return unit @ unit.transpose(-2, -1)


def centroid_cosines(between: Tensor, labels: Tensor, n_senses: int) -> Tensor:
    """Each sentence's cosine to each sense's centroid without that sentence: (features, labellings, n, n_senses).

    between: (features, n, n), from `cosines`. labels: (labellings, n), whole numbers from 0.
    """
    is_own = torch.nn.functional.one_hot(labels, n_senses).double()  # (labellings, n, n_senses)
    self_cosine = between.diagonal(dim1=-2, dim2=-1)[:, None, :, None]
    columns = is_own.permute(1, 0, 2).flatten(1)  # (n, labellings x n_senses)
    sums = (between @ columns).unflatten(-1, is_own.shape[::2]).transpose(1, 2)  # (features, labellings, n, n_senses)
    squared = (sums * is_own).sum(dim=2, keepdim=True)  # the whole centroid's squared length
    dot = sums - is_own * self_cosine
    squared = squared - is_own * (2 * sums - self_cosine)
    return torch.where(squared > CANCELLED, dot / squared.clamp_min(CANCELLED).sqrt(), 0.0)


def score(to_centroids: Tensor, labels: Tensor) -> Tensor:
    """1 where the own sense's centroid is nearest, 0 where another is nearer, a tie shared (a half between two).

    to_centroids (features, labellings, n, n_senses), labels (labellings, n) -> (features, labellings, n)
    """
    own = to_centroids.gather(-1, labels[None, :, :, None].expand(*to_centroids.shape[:-1], 1))
    beaten = (to_centroids > own + TIE).any(dim=-1)
    level = ((to_centroids - own).abs() <= TIE).sum(dim=-1).double()
    return torch.where(beaten, 0.0, 1.0 / level)
