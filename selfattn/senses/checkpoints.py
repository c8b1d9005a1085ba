"""Two checkpoints of one architecture, head by head, over many texts: how far each head has moved, beside other heads."""

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
    """How far the heads of a second checkpoint are from those of a first one, over the same texts."""

    heads: pd.DataFrame
    # layer, head, distance (of `counterpart_distances`, 0 to 1, the mean over the texts), n (texts), low and high (95 % of
    # resamples of the texts; NaN for one text), others (the mean distance from the other heads of its layer: the control)
    rejected: pd.DataFrame  # row (the text's place, from 0), reason


def compare_checkpoints(
    first: Encoder, second: Encoder, texts: Iterable[str], progress: Progress = silent
) -> CheckpointsReport:
    """Each head's mean distance from its counterpart over texts, its interval, and that from the other heads of its layer.

    Where a head is as far from its counterpart as from these, it is no longer the same head. Raises ValueError where the heads
    have no counterparts or no text can be used, TypeError for one string in place of a list.
    """
    if isinstance(texts, str):
        raise TypeError(f"Expected a list of texts, got one text ({texts[:40]!r}). Give a list of this one.")
    if why := why_no_counterparts(first, second):
        raise ValueError(f"The heads of {first.title} and {second.title} are no counterparts of one another: {why}.")
    given, own, others, rejected = list(texts), [], [], []
    for place, text in enumerate(followed(given, progress)):
        try:
            one, other = first.encode(text), second.encode(text)
        except TextError as error:
            if isinstance(error, OutOfMemory):
                raise
            rejected.append((place, str(error)))
        else:
            own.append(counterpart_distances(one, other).flatten().numpy())
            apart = [counterpart_distances(one, other, shift).flatten().numpy() for shift in range(1, first.n_heads)]
            others.append(np.mean(apart, axis=0) if apart else np.full_like(own[-1], np.nan))
    if not own:
        raise ValueError(f"None of the {len(given)} texts can be used. {rejected[0][1] if rejected else 'Give some.'}")
    low, high = interval(np.stack(own))
    heads = pd.DataFrame(first.all_heads, columns=["layer", "head"]).assign(
        distance=np.mean(own, axis=0), n=len(own), low=low, high=high, others=np.mean(others, axis=0)
    )
    return CheckpointsReport(heads=heads, rejected=pd.DataFrame(rejected, columns=["row", "reason"]))
