"""One word, one static vector, many contextual ones: how far each sentence moves it, layer by layer.

Source: Ethayarajh 2019 ("How contextual are contextualized word representations?", self-similarity and its baseline);
Wiedemann et al. 2019 (the vectors separate the senses). Points are unit vectors, so that only direction is drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import pandas as pd
import torch
from torch import Tensor
from torch.nn.functional import normalize

from selfattn.encoders.encoding import Encoding
from selfattn.senses.nearest_centroid import cosines


@dataclass(frozen=True, eq=False)
class WordPaths:
    """One word in k sentences: its bare vector and its vector entering each layer."""

    static: Tensor  # (k, d_embedding) the bare token vectors: all the same where the tokens are
    layers: Tensor  # (n_layers + 1, k, d_model) hidden[0] ... hidden[n_layers]
    same_tokens: bool  # whether all sentences spell the word with the same tokens

    @property
    def comparable(self) -> bool:
        """Whether the bare vectors live in the hidden states' space (they don't where d_embedding differs)."""
        return self.static.shape[-1] == self.layers.shape[-1]


@dataclass(frozen=True, eq=False)
class Plane:
    """The same plane for every layer, so that the slider moves the points and not the picture."""

    start: Tensor  # (n_layers + 1, k, 2) the bare vectors as they lie beside the layer's: one point where the tokens are one
    points: Tensor  # (n_layers + 1, k, 2)
    marks: Tensor  # (n_layers + 1, m, 2) the landmarks
    explained: float  # share of the variance of all points that the plane keeps, 0 to 1


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Other words to find one's way by: "bank" lies near "loan" in one sentence, near "river" in another."""

    words: tuple[str, ...]
    static: Tensor  # (m, d_embedding)
    layers: Tensor  # (n_layers + 1, m, d_model)


def nearness(paths: WordPaths, marks: Landmarks, layer: int, which: Sequence[bool]) -> float:
    """The mean cosine of the word, in some of its sentences, with the first landmark, entering the layer."""
    words = normalize(paths.layers[layer][list(which)].double(), dim=-1)
    return float((words @ normalize(marks.layers[layer, 0].double(), dim=-1)).mean())


def word_paths(places: Sequence[tuple[Encoding, Sequence[int]]]) -> WordPaths:
    """The word's vectors in each sentence; places: (encoding, positions of the word), a split word being averaged."""
    if len(places) < 2:
        raise ValueError(f"Expected the word in at least two sentences, got {len(places)}. Add a sentence.")
    static = torch.stack([encoding.static[list(at)].mean(0) for encoding, at in places])
    layers = torch.stack([encoding.hidden[:, list(at)].mean(1) for encoding, at in places], dim=1)
    ids = {tuple(encoding.ids[place] for place in at) for encoding, at in places}
    return WordPaths(static, layers, len(ids) == 1)


def plane(paths: WordPaths, marks: Landmarks | None = None) -> Plane:
    """Where each sentence takes the word: principal components of unit vectors, each layer's mean subtracted.

    The mean is what all sentences do to the word; without it even the first layer's norm would fill the picture.
    Bare vectors of another width than the hidden states' can't be drawn there and stand at the origin.
    """
    layers = normalize(paths.layers.double(), dim=-1)
    middle = layers.mean(1, keepdim=True)
    moved = layers - middle
    start = normalize(paths.static.double(), dim=-1) - middle if paths.comparable else torch.zeros_like(moved)
    known = normalize(marks.layers.double(), dim=-1) - middle if marks else moved[:, :0]
    _, sizes, directions = torch.linalg.svd(moved.flatten(0, 1), full_matrices=False)
    total = float(sizes.square().sum())
    explained = float(sizes[:2].square().sum()) / total if total > 0 else 1.0
    axes = directions[:2].T
    return Plane(start @ axes, moved @ axes, known @ axes, explained)


def baselines(paths: WordPaths, senses: Sequence[str], others: WordPaths | None = None) -> pd.DataFrame:
    """Mean cosine at each stage: columns stage, pairs, cosine, n. Stage -1 is the bare token vector.

    pairs: "same sense", "different senses" (by the labels given) and, where others are given, "two other words": what
    any two words reach.
    """
    compared = {"same sense": (paths, _pairs(senses, True)), "different senses": (paths, _pairs(senses, False))}
    if others is not None:
        compared["two other words"] = others, list(combinations(range(others.static.shape[0]), 2))
    rows = [
        (stage, name, float(cosines(vectors)[tuple(zip(*pairs))].mean()), len(pairs))
        for name, (word, pairs) in compared.items()
        if pairs
        for stage, vectors in enumerate([word.static, *word.layers], start=-1)
    ]
    return pd.DataFrame(rows, columns=["stage", "pairs", "cosine", "n"])


def _pairs(senses: Sequence[str], same: bool) -> list[tuple[int, int]]:
    return [(i, j) for i, j in combinations(range(len(senses)), 2) if (senses[i] == senses[j]) == same]
