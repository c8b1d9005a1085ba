"""Compare two checkpoints of one architecture head by head.

A head's counterpart has the same layer and number in the other checkpoint.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from selfattn.analysis.compare import counterpart_distances, why_no_counterparts
from selfattn.encoders.encoder import Encoder, Progress, followed, silent
from selfattn.encoders.errors import OutOfMemory, TextError
from selfattn.notebook_repr import OfTables
from selfattn.senses.resampling import interval


@dataclass(frozen=True, eq=False, repr=False)
class CheckpointsReport(OfTables):
    """Mean distances, over texts, between each head's attention weights in the two checkpoints."""

    heads: pd.DataFrame
    # layer, head
    # n: number of texts
    # distance: from the counterpart, 0 (equal attention weights) to 1, mean over texts
    # low, high: 95 % interval of the distance
    # others: mean distance from the other heads of the counterpart's layer
    # nearer: True if `high` is less than `others`
    by_chance: pd.DataFrame
    # shift: each head is compared with the head `shift` indices after its counterpart (cyclically)
    # nearer: number of heads that are nearer to this shifted head than, on average, to the layer's other heads
    rejected: pd.DataFrame  # row (index in `texts`, from 0), reason


def compare_checkpoints(
    first: Encoder, second: Encoder, texts: Iterable[str], progress: Progress = silent
) -> CheckpointsReport:
    """Measure how much each head's attention weights differ from its counterpart's.

    Raises ValueError if heads don't correspond or no text is usable, TypeError if `texts` is a string.
    """
    if isinstance(texts, str):
        raise TypeError(f"Expected a list of texts, got one text ({texts[:40]!r}). Put it in a list.")
    if why := why_no_counterparts(first, second):
        raise ValueError(f"The heads of {first.title} and {second.title} don't correspond: {why}.")
    given, found, rejected = list(texts), [], []
    for place, text in enumerate(followed(given, progress)):
        try:
            both = first.encode(text), second.encode(text)
        except TextError as error:
            if isinstance(error, OutOfMemory):
                raise
            rejected.append((place, str(error)))
        else:
            shifts = [counterpart_distances(*both, shift).flatten().numpy() for shift in range(first.n_heads)]
            found.append(np.concatenate(shifts))
    if not found:
        raise ValueError(
            f"None of the {len(given)} texts can be used. {rejected[0][1] if rejected else 'Give a text.'}"
        )
    each = np.stack(found).astype(float)  # (texts, shifts x heads)
    distance, low, high = (bound.reshape(first.n_heads, -1) for bound in (each.mean(axis=0), *interval(each)))
    others = np.full_like(distance, np.nan)  # NaN if a layer has a single head
    if first.n_heads > 1:
        others = (distance.sum(axis=0) - distance) / (first.n_heads - 1)
    nearer = np.where(np.isnan(high), distance, high) < others
    heads = pd.DataFrame(first.all_heads, columns=["layer", "head"]).assign(
        distance=distance[0], n=len(found), low=low[0], high=high[0], others=others[0], nearer=nearer[0]
    )
    return CheckpointsReport(
        heads=heads,
        by_chance=pd.DataFrame({"shift": range(1, first.n_heads), "nearer": nearer[1:].sum(axis=1)}),
        rejected=pd.DataFrame(rejected, columns=["row", "reason"]),
    )
