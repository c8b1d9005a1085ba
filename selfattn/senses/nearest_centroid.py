"""Measure how well each layer and head separates a word's senses.

A sentence gets the sense whose centroid, computed from the other sentences, is nearest.
Source: Manning, Raghavan and Schuetze 2008, "Introduction to Information Retrieval", section 14.2 (Rocchio).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from selfattn.analysis.usable_rows import rejecting_what_breaks_down, require_rows, with_spans
from selfattn.encoders.encoder import Encoder, Progress, followed, silent
from selfattn.notebook_repr import OfTables
from selfattn.senses.random_weights import random_twin
from selfattn.senses.resampling import interval, p_values, threshold
from selfattn.senses.word_vectors import word_vectors

SHUFFLES = 1000
KINDS = ("layers", "bag", "context", "uniform", "own_value")  # fields of WordVectors
SHUFFLED = ("layers", "context")  # also measured with shuffled labels
TIE = 1e-9  # closer cosines count as equal, because of rounding
CANCELLED = 1e-12  # a centroid with a smaller squared length counts as zero
BLOCK = 4_000_000  # most tensor elements in memory while labels are shuffled


@dataclass(frozen=True, eq=False, repr=False)
class SeparationReport(OfTables):
    """The accuracy of the nearest centroid (0 to 1; 1 = always the right sense), with 95 % intervals (low, high) over words."""

    layers: pd.DataFrame
    # layer: "embedding", or the index of the layer
    # accuracy, low, high
    # each_left_out: accuracy if one sentence of every sense is left out
    # shuffled: mean accuracy with shuffled labels
    # floor: accuracy of an encoder with random parameters
    heads: pd.DataFrame  # empty if heads' outputs can't be read
    # layer, head, accuracy, low, high, p_value
    # uniform: accuracy with equal attention weights
    # own_value: accuracy of the word's own value vector
    # shuffled, floor: as in `layers`
    # adds, adds_low, adds_high: accuracy minus the better baseline's (`beyond_baselines`)
    words: pd.DataFrame  # word, layer, accuracy, senses, sentences (the last two are counts)
    items: pd.DataFrame  # the usable sentences, with start and stop (the word's token span)
    rejected: pd.DataFrame  # the rejected rows, with the column reason
    bag: tuple[float, float, float]  # accuracy, low, high for the mean of the other words' static vectors
    chance: float  # mean over words of 1 / number of senses
    threshold: float  # heads with a larger accuracy have p < .05
    shuffles: int
    _nearest: np.ndarray = field(repr=False)  # (n_layers, n_heads, n_items), index in the word's sorted senses
    _scores: np.ndarray = field(repr=False)  # (n_layers, n_heads, n_items), from `score`

    def sentences(self, layer: int, head: int) -> pd.DataFrame:
        """Return `items` with the added columns nearest and score for one head.

        nearest: the sense whose centroid is nearest to the head's output for the word
        score: 1 if the right sense's centroid is nearest, 0 if not, 1/k if it ties with others (k in all)
        """
        senses = {word: sorted(set(rows)) for word, rows in self.items.groupby("word")["sense"]}
        nearest = [senses[word][code] for word, code in zip(self.items["word"], self._nearest[layer, head])]
        return self.items.assign(nearest=nearest, score=self._scores[layer, head])


@rejecting_what_breaks_down
def separation(
    encoder: Encoder, frame: pd.DataFrame, shuffles: int = SHUFFLES, floor: bool = True, progress: Progress = silent
) -> SeparationReport:
    """Measure how often the nearest centroid gives the right sense, in each layer and head.

    frame: labelled sentences (columns sentence, word, sense)
    floor: False leaves out the comparison with a copy of the encoder that has random parameters
    progress(done, total): called after each word; may raise, to stop
    Raises ValueError for a missing column, or if no word can be used.
    """
    if shuffles < 1:
        raise ValueError(f"shuffles must be at least 1 (1,000 is usual), got {shuffles}.")
    items, rejected = require_rows(encoder, frame)
    items = items.sort_values("word", kind="stable")
    groups = [rows for _, rows in items.groupby("word")]
    runs = [(encoder, shuffles)] + ([(random_twin(encoder), 0)] if floor else [])
    # The encoder's tasks come first, then the tasks of its copy with random parameters.
    tasks = [(*run, seed, rows) for run in runs for seed, rows in enumerate(groups, start=1)]
    results = [_one_word(model, rows, n, seed) for model, n, seed, rows in followed(tasks, progress)]
    words, twins = results[: len(groups)], results[len(groups) :]
    layer_names = ["embedding", *range(encoder.n_layers)]
    counts = items.groupby("word")["sense"].agg(senses="nunique", sentences="size")
    shuffled = {kind: np.mean([word[f"shuffled {kind}"].numpy() for word in words], axis=0) for kind in SHUFFLED}
    layers = pd.DataFrame({"layer": pd.Series(layer_names, dtype=object), **_estimate(words, "layers")}).assign(
        each_left_out=_per_word(words, "each_left_out").mean(axis=0),
        shuffled=shuffled["layers"].mean(axis=1),
        floor=_per_word(twins, "layers").mean(axis=0) if floor else np.nan,
    )
    heads = pd.DataFrame(encoder.all_heads if encoder.patchable else [], columns=["layer", "head"], dtype=int)
    heads = heads.assign(**_estimate(words, "context"))
    heads = heads.assign(
        p_value=p_values(heads["accuracy"].to_numpy(), shuffled["context"]) if len(heads) else [],
        **{kind: _per_word(words, kind).mean(axis=0) for kind in ("uniform", "own_value")},
        shuffled=shuffled["context"].mean(axis=1),
        floor=_per_word(twins, "context").mean(axis=0) if floor else np.nan,
        **dict(zip(("adds", "adds_low", "adds_high"), _estimate(words, "adds").values())),
    )
    by_layer = pd.DataFrame(_per_word(words, "layers"), counts.index, pd.Index(layer_names, name="layer", dtype=object))
    nearest, scores = (torch.cat([word[kind] for word in words], dim=1).numpy() for kind in ("nearest", "context"))
    ((bag,), (low,), (high,)) = _estimate(words, "bag").values()
    shape = (encoder.n_layers if encoder.patchable else 0, encoder.n_heads, len(items))
    return SeparationReport(
        layers=layers,
        heads=heads,
        words=by_layer.stack().rename("accuracy").reset_index().join(counts, on="word"),
        items=with_spans(items),
        rejected=rejected,
        bag=(float(bag), float(low), float(high)),
        chance=float((1 / counts["senses"]).mean()),
        threshold=threshold(shuffled["context"]) if encoder.patchable else float("nan"),
        shuffles=shuffles,
        _nearest=nearest.reshape(shape),
        _scores=scores.reshape(shape),
    )


def _one_word(encoder: Encoder, rows: pd.DataFrame, shuffles: int, seed: int) -> dict[str, Tensor]:
    senses, codes = np.unique(rows["sense"].to_numpy(dtype=str), return_inverse=True)
    labels = torch.from_numpy(codes)
    vectors = word_vectors(encoder, list(rows["placed"]))
    found = {}
    for kind in KINDS:
        between = cosines(getattr(vectors, kind)).flatten(0, -3)  # (features, n, n)
        to_centroids = centroid_cosines(between, labels[None], len(senses))
        found[kind] = score(to_centroids, labels[None])[:, 0]
        if kind == "layers":
            starts = torch.tensor([at.positions[0] for at in rows["placed"]])
            found["each_left_out"] = each_left_out(between, labels, len(senses), starts)
        if kind in SHUFFLED:
            found[f"shuffled {kind}"] = shuffled_accuracy(between, labels, len(senses), shuffles, seed)
        if kind == "context":
            found["nearest"] = to_centroids[:, 0].argmax(dim=-1)
    baselines = torch.stack([found["uniform"], found["own_value"]])
    return found | {"adds": beyond_baselines(found["context"], baselines, labels)}


def _per_word(words: Sequence[Mapping[str, Tensor]], kind: str) -> np.ndarray:
    """Average each layer's or head's results over each word's sentences: (n_words, number of layers or heads)."""
    return np.stack([word[kind].mean(dim=-1).numpy() for word in words])


def _estimate(words: Sequence[Mapping[str, Tensor]], kind: str) -> dict[str, np.ndarray]:
    per_word = _per_word(words, kind)
    low, high = interval(per_word)
    return {"accuracy": per_word.mean(axis=0), "low": low, "high": high}


def cosines(vectors: Tensor) -> Tensor:
    """Return the cosine of each pair of n vectors (0 for a zero vector): (n, ..., d) -> (..., n, n) float64."""
    unit = torch.nn.functional.normalize(vectors.double(), dim=-1).movedim(0, -2)
    return unit @ unit.transpose(-2, -1)


def centroid_cosines(between: Tensor, labels: Tensor, n_senses: int) -> Tensor:
    """Return each sentence's cosine with each sense's centroid over the other sentences.

    between (features, n, n): from `cosines`; a feature is a layer or a head
    labels (labellings, n): index of each sentence's sense
    The result is (features, labellings, n, n_senses).
    """
    in_sense = torch.nn.functional.one_hot(labels, n_senses).double()  # (labellings, n, n_senses)
    self_cosine = between.diagonal(dim1=-2, dim2=-1)[:, None, :, None]
    columns = in_sense.permute(1, 0, 2).flatten(1)  # (n, labellings x n_senses)
    sums = (between @ columns).unflatten(-1, in_sense.shape[::2]).transpose(1, 2)  # (features, labellings, n, n_senses)
    squared = (sums * in_sense).sum(dim=2, keepdim=True)  # squared length of each centroid, with no sentence left out
    dot = sums - in_sense * self_cosine
    squared = squared - in_sense * (2 * sums - self_cosine)
    return torch.where(squared > CANCELLED, dot / squared.clamp_min(CANCELLED).sqrt(), 0.0)


def each_left_out(between: Tensor, labels: Tensor, n_senses: int, starts: Tensor) -> Tensor:
    """Return each sentence's `score` with centroids that omit it and one sentence of every other sense: (features, n).

    between (features, n, n): from `cosines`. labels (n,): index of each sentence's sense
    starts (n,): position of each sentence's word; sentences with similar positions are left out together
    """
    in_sense = torch.nn.functional.one_hot(labels, n_senses).double()
    sums = between @ in_sense  # (features, n, n_senses)
    squared = (sums * in_sense).sum(dim=1, keepdim=True)  # squared length of each centroid, with no sentence left out
    rows = [
        some[starts[some].argsort(stable=True)] for some in (torch.nonzero(labels == s)[:, 0] for s in range(n_senses))
    ]
    left = torch.zeros(len(labels), n_senses, dtype=torch.long)  # for each sentence and sense: what to leave out
    for of_sense in rows:
        for sense, other in enumerate(rows):
            left[of_sense, sense] = other[torch.arange(len(of_sense)) * len(other) // len(of_sense)]
    dot = sums - between[:, torch.arange(len(labels))[:, None], left]
    shorter = squared - 2 * sums[:, left, torch.arange(n_senses)] + between[:, left, left]
    to_centroids = torch.where(shorter > CANCELLED, dot / shorter.clamp_min(CANCELLED).sqrt(), 0.0)
    return score(to_centroids[:, None], labels[None])[:, 0]


def score(to_centroids: Tensor, labels: Tensor) -> Tensor:
    """Return 1 if the right sense's centroid is nearest, 0 if not, 1/k for a tie of k.

    to_centroids (features, labellings, n, n_senses), labels (labellings, n) -> (features, labellings, n)
    """
    to_right = to_centroids.gather(-1, labels[None, :, :, None].expand(*to_centroids.shape[:-1], 1))
    beaten = (to_centroids > to_right + TIE).any(dim=-1)
    level = ((to_centroids - to_right).abs() <= TIE).sum(dim=-1).double()
    return torch.where(beaten, 0.0, 1.0 / level)


def beyond_baselines(scores: Tensor, baselines: Tensor, labels: Tensor) -> Tensor:
    """Return each head's scores minus the better baseline's: (heads, n), -1 to 1.

    scores (heads, n), baselines (2, heads, n) float64, labels (n,)
    The better baseline for one half of the sentences is the one that scores higher on the other half.
    """
    in_sense = torch.nn.functional.one_hot(labels)
    half = (in_sense.cumsum(0) * in_sense).sum(1) % 2
    on_other_half = baselines @ (half[:, None] != half).double()  # (2, features, n)
    better = (on_other_half > on_other_half.amax(0) - TIE).double()
    return scores - (better / better.sum(0) * baselines).sum(0)


def shuffled_accuracy(between: Tensor, labels: Tensor, n_senses: int, shuffles: int, seed: int) -> Tensor:
    """Return one word's nearest-centroid accuracy for each shuffle of the labels: (features, shuffles).

    between (features, n, n): from `cosines`; a feature is a layer or a head
    labels (n,): index of each sentence's sense
    """
    n_features, n = between.shape[:2]
    if not n_features or not shuffles:
        return torch.zeros(n_features, shuffles, dtype=between.dtype)
    generator = np.random.default_rng(seed)
    shuffled = torch.from_numpy(generator.permuted(np.tile(labels.numpy(), (shuffles, 1)), axis=1))
    step = max(1, BLOCK // (n_features * n * n_senses))
    parts = [score(centroid_cosines(between, block, n_senses), block).mean(dim=-1) for block in shuffled.split(step)]
    return torch.cat(parts, dim=1)
