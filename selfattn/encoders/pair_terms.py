"""Compute the terms that the distance between two tokens adds to their attention score.

Sources: Raffel et al. 2020 (T5's biases), section 2.1; He et al. 2021, "DeBERTa", equation 4.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from selfattn.kernel_inputs import Term


@dataclass(frozen=True, eq=False)
class PositionBias:
    """A number, added to the score, for each head and each distance between two tokens (T5, MPNet)."""

    values: Tensor  # (1 or batch, n_heads, n, n)
    name: str = "position bias"

    def sentence(self, index: int, n: int) -> "PositionBias":
        """Return the bias of one sentence of the batch, cut to n tokens."""
        return replace(self, values=of_sentence(self.values, index, n))

    def term(self, query: Tensor, key: Tensor, scale: float, heads: int | slice, rows: slice) -> Term:
        """Compute the term to add to the scaled scores of some heads and queries."""
        return Term(self.name, self.values[0, heads][..., rows, :].to(query))

    def of_pieces(self, query: Tensor, key: Tensor, scale: float, sentence: Tensor, position: Tensor) -> Term:
        """Compute the term to add to the scaled scores of n_queries queries and n keys: (n_queries, n_heads, 1, n).

        sentence (n_queries,): the index of each query's sentence
        position (n_queries,): the index of each query's token in its sentence
        """
        return Term(self.name, mask_rows(self.values, sentence, position).to(query))


@dataclass(frozen=True, eq=False)
class DistanceVectors:
    """Vectors for the distances between tokens, to be multiplied by the query or the key (DeBERTa)."""

    name: str  # "content to position" (times query) or "position to content" (times key)
    vectors: Tensor  # (n_heads, 2 n - 1, d_head), for query minus key position from 1 - n to n - 1

    def sentence(self, index: int, n: int) -> "DistanceVectors":
        """Return a copy with only the vectors for distances in a sentence of n tokens."""
        middle = self.vectors.shape[1] // 2
        return replace(self, vectors=self.vectors[:, middle - n + 1 : middle + n])

    def term(self, query: Tensor, key: Tensor, scale: float, heads: int | slice, rows: slice) -> Term:
        """Compute the term to add to the scaled scores of some heads and queries."""
        places = torch.arange(key.shape[-2], device=key.device)
        return self._products(query, key, scale, places[rows, None] - places, heads)

    def of_pieces(self, query: Tensor, key: Tensor, scale: float, sentence: Tensor, position: Tensor) -> Term:
        """Compute the term to add to the scaled scores of n_queries queries and n keys: (n_queries, n_heads, 1, n).

        sentence (n_queries,): the index of each query's sentence
        position (n_queries,): the index of each query's token in its sentence
        """
        places = torch.arange(key.shape[-2], device=key.device)
        return self._products(query, key, scale, position[:, None, None, None] - places, slice(None))

    def _products(self, query: Tensor, key: Tensor, scale: float, distance: Tensor, heads: int | slice) -> Term:
        vectors, index = self.vectors[heads].to(query), distance + key.shape[-2] - 1
        if self.name == "content to position":
            return Term(self.name, content_to_position(query, vectors, index, scale))
        return Term(self.name, position_to_content(key, vectors, index, scale))


def content_to_position(query: Tensor, positions: Tensor, distance: Tensor, scale: float) -> Tensor:
    """Compute result[i, j] = scale * query[i] . positions[distance[i, j]].

    query (..., n_query, d_head), positions (..., n_distances, d_head), distance (..., n_query, n_key)
    -> (..., n_query, n_key). The entries of `distance` are indices of `positions`, from 0.
    """
    products = query @ positions.transpose(-2, -1)  # (..., n_query, n_distances)
    return products.gather(-1, distance.expand(*products.shape[:-2], *distance.shape[-2:])) * scale


def position_to_content(key: Tensor, positions: Tensor, distance: Tensor, scale: float) -> Tensor:
    """Compute result[i, j] = scale * key[j] . positions[distance[i, j]]."""
    products = positions @ key.transpose(-2, -1)  # (..., n_distances, n_key)
    return products.gather(-2, distance.expand(*products.shape[:-2], *distance.shape[-2:])) * scale


def mask_rows(mask: Tensor, sentence: Tensor, position: Tensor) -> Tensor:
    """Return the mask rows of n_queries queries: (n_queries, n_heads or 1, 1, n). Query i is token position[i] of sentence[i]."""
    sentence = sentence if mask.shape[0] > 1 else torch.zeros_like(sentence)
    position = position if mask.shape[2] > 1 else torch.zeros_like(position)
    return mask[sentence, :, position][:, :, None]


def of_sentence(pairs: Tensor, index: int, n: int) -> Tensor:
    """Return one sentence's part of a tensor (batch or 1, ..., queries or 1, keys), cut to n tokens."""
    row = pairs if pairs.shape[0] == 1 else pairs[index : index + 1]
    return row[..., : min(n, row.shape[-2]), :n]
