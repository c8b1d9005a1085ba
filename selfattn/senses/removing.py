"""The mean effect of removing each head, over many pairs of sentences: of different senses, and of the same sense.

A single pair is an anecdote, so effects are averaged over a word's pairs and then over words, with intervals; and the
ranking of the heads is only worth looking at if two halves of the words agree on it.
Sources: Michel et al. 2019, "Are Sixteen Heads Really Better than One?" (removal); Spearman 1910 and Brown 1910
(what split halves say about the whole).
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from selfattn.analysis.measures import similarity
from selfattn.analysis.usable_rows import rejecting_what_breaks_down, require_rows
from selfattn.encoders.encoder import Encoder, Progress, silent
from selfattn.encoders.placed_word import PlacedWord
from selfattn.notebook_repr import OfTables
from selfattn.senses.resampling import chance_count, interval, rank_correlations, word_halves

RELIABLE = 0.8  # a Spearman-Brown from which two halves of the words are said to agree
SPLITS = 200


@dataclass(frozen=True, eq=False, repr=False)
class RemovalReport(OfTables):
    """The result of `removal`. An effect is a cosine without a head minus that with it: positive, the head sets apart."""

    heads: pd.DataFrame
    # layer, head, and for different (pairs of different senses), same (of one sense) and gap (different - same):
    # the mean, _low and _high (95 % bootstrap over words)
    reliability: dict[str, float]  # of the heads' ranking by different, same and gap; nan under four words
    chance: dict[str, tuple[float, float]]
    # of each kind, how many heads' intervals leave out 0 by chance: mean, 95th percentile
    pairs: pd.DataFrame  # word, first, second, same_sense, cosine (with all heads)
    rejected: pd.DataFrame

    def reliable(self, kind: str) -> bool:
        """Whether the ranking by "different", "same" or "gap" is worth reading (.8 and more)."""
        return self.reliability[kind] >= RELIABLE


@rejecting_what_breaks_down
def removal(
    encoder: Encoder, frame: pd.DataFrame, per_sense: int = 2, how: str = "zero", progress: Progress = silent
) -> RemovalReport:
    """Remove every head in turn from pairs of sentences that share a word (columns sentence, word, sense).

    per_sense: how many sentences of each sense are used, the first that can be; all their pairs count. The cost is
    one batched pass of n_layers x n_heads copies for each of those sentences: progress(done, total) counts them, and an
    exception it raises ends the computation. how: "zero" or "mean", as in Encoder.knock_out.
    Raises NotRecomputable where heads can't be removed, ValueError where no word is left or per_sense is under 2.
    """
    encoder.check_patchable()
    if per_sense < 2:
        raise ValueError(f"per_sense must be at least 2 (a same-sense pair needs two sentences), got {per_sense}.")
    items, rejected = require_rows(encoder, frame)
    items = items.groupby(["word", "sense"]).head(per_sense)
    pairs, effects = [], []
    done = 0
    for word, rows in items.groupby("word"):
        vectors = []
        for row in rows.itertuples():
            vectors.append(_vectors(encoder, row.placed, how))
            done += 1
            progress(done, len(items))
        for (a, first), (b, second) in combinations(enumerate(rows.itertuples()), 2):
            cosine = similarity(vectors[a], vectors[b])
            pairs.append((word, first.sentence, second.sentence, first.sense == second.sense, float(cosine[-1])))
            effects.append((cosine[:-1] - cosine[-1]).numpy())
    pairs = pd.DataFrame(pairs, columns=["word", "first", "second", "same_sense", "cosine"])
    per_word = _per_word(pairs, np.stack(effects))
    return RemovalReport(
        heads=_heads(encoder, per_word),
        reliability={kind: split_half(values) for kind, values in per_word.items()},
        chance={kind: chance_count(values) for kind, values in per_word.items()},
        pairs=pairs,
        rejected=rejected,
    )


def split_half(per_word: np.ndarray, splits: int = SPLITS) -> float:
    """How far two halves of the words agree on the ranking of the heads: (n_words, n_heads) -> at most 1.

    Mean rank correlation over random halves, stepped up to the full number of words (Spearman-Brown); nan under
    four words, because a half needs two.
    """
    if len(per_word) < 4:
        return float("nan")
    mean = float(rank_correlations(*word_halves(per_word[:, None], splits).swapaxes(0, 1)).mean())
    return 2 * mean / (1 + mean) if mean > -1 else -1.0


def _vectors(encoder: Encoder, word: PlacedWord, how: str) -> Tensor:
    """The word's last hidden state without each head, and last with all of them: (n_layers * n_heads + 1, d_model)."""
    without = encoder.knock_out(word.sentence, word.positions, how=how).flatten(0, 1)
    return torch.cat([without, encoder.encoded(word).vector(encoder.n_layers, word.positions)[None]])


def _per_word(pairs: pd.DataFrame, effects: np.ndarray) -> dict[str, np.ndarray]:
    """Each word's mean effect over its pairs: (n_words, n_heads) for each kind."""
    means = {}
    for kind, same in (("different", False), ("same", True)):
        chosen = (pairs["same_sense"] == same).to_numpy()
        means[kind] = pd.DataFrame(effects[chosen]).groupby(pairs["word"][chosen].to_numpy()).mean().to_numpy()
    return means | {"gap": means["different"] - means["same"]}


def _heads(encoder: Encoder, per_word: dict[str, np.ndarray]) -> pd.DataFrame:
    columns = {}
    for kind, values in per_word.items():
        low, high = interval(values)
        columns |= {kind: values.mean(axis=0), f"{kind}_low": low, f"{kind}_high": high}
    return pd.DataFrame(encoder.all_heads, columns=["layer", "head"]).assign(**columns)
