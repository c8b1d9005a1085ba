"""Groups among the vectors of a word in unlabelled sentences. They are clusters, not senses: nobody has named them.

Source: Rousseeuw 1987, "Silhouettes" (how well the groups are set apart); k-means on unit vectors as scikit-learn has it.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from selfattn.analysis.usable_rows import rejecting_what_breaks_down, require_rows, with_spans
from selfattn.encoders.encoder import Encoder, Progress, silent
from selfattn.notebook_repr import OfTables
from selfattn.senses.word_vectors import word_vectors

MOST = 6  # clusters tried
CLEAR = 0.25  # a mean silhouette below this says that there is no real structure (Kaufman and Rousseeuw 1990, table 4)


@dataclass(frozen=True, eq=False, repr=False)
class ClusterReport(OfTables):
    """The result of `clusters`. A silhouette runs from -1 (nearer to another cluster) to 1 (far from all others)."""

    words: pd.DataFrame  # word, sentences, clusters (the number with the best silhouette), silhouette (their mean)
    items: pd.DataFrame  # the table's columns, start, stop, cluster (from 0, largest first), silhouette
    rejected: pd.DataFrame  # the rows that could not be used, each with its reason


@rejecting_what_breaks_down
def clusters(
    encoder: Encoder, frame: pd.DataFrame, layer: int | None = None, progress: Progress = silent
) -> ClusterReport:
    """Group the sentences of each word (columns sentence, word) by the word's vector after `layer` (None: the last).

    Two to six clusters are tried and the number with the best mean silhouette (cosine) kept. progress(done, total)
    is called after each word; an exception it raises ends the computation.
    Raises ValueError where a column is missing, no word has four usable sentences, or the layer doesn't exist.
    """
    layer = encoder.n_layers - 1 if layer is None else layer
    if not 0 <= layer < encoder.n_layers:
        raise ValueError(f"Expected a layer from 0 to {encoder.n_layers - 1}, got {layer}.")
    items, rejected = require_rows(encoder, frame, labelled=False)
    parts = []
    groups = items.groupby("word")
    for done, (_, rows) in enumerate(groups, start=1):
        vectors = word_vectors(encoder, list(rows["placed"]))
        labels, silhouettes = group(vectors.layers[:, layer + 1].numpy())
        parts.append(rows.assign(cluster=labels, silhouette=silhouettes))
        progress(done, len(groups))
    grouped = with_spans(pd.concat(parts))
    words = grouped.groupby("word", as_index=False).agg(
        sentences=("sentence", "size"),
        clusters=("cluster", lambda labels: labels.nunique()),
        silhouette=("silhouette", "mean"),
    )
    return ClusterReport(words.sort_values("silhouette", ascending=False, ignore_index=True), grouped, rejected)


def group(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each vector's cluster and silhouette, for the number of clusters with the best mean: (n, d) -> (n,), (n,)."""
    # Not at the top: the dashboard's first page would wait for them.
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_samples
    from sklearn.preprocessing import normalize

    unit = normalize(vectors.astype(np.float64))
    best = (np.zeros(len(unit), dtype=int), np.zeros(len(unit)))
    # Vectors that are equal, but for rounding, are one cluster.
    n_distinct = len(np.unique(unit.round(6), axis=0))
    for n_clusters in range(2, min(MOST, n_distinct, len(unit) - 1) + 1):
        labels = KMeans(n_clusters, n_init=10, random_state=0).fit_predict(unit)
        silhouettes = silhouette_samples(unit, labels, metric="cosine")
        if n_clusters == 2 or silhouettes.mean() > best[1].mean():
            best = (labels, silhouettes)
    by_size = np.argsort(-np.bincount(best[0]), kind="stable")
    return np.argsort(by_size)[best[0]], best[1]
