"""Captions of a word's vector: the senses of the labelled sentences nearest to it, stage by stage."""

from collections.abc import Mapping

import pandas as pd

SAME = 1e-4  # cosines that differ by no more count as equal
NEAREST = 3


def nearest(stages: Mapping[str, pd.DataFrame]) -> str:
    """State the senses of the three nearest sentences, stage by stage, and how many more are as near.

    stages: each stage's name ("in its sentence") and its senses.nearest_sentences.ranked_sentences.
    """
    parts = []
    for stage, ranked in stages.items():
        first = ranked.head(NEAREST)
        senses = first["sense"].value_counts(sort=False)
        which = " and ".join(f"{count} of {sense}" for sense, count in senses.items())
        as_near = int((first["cosine"].iloc[-1] - ranked["cosine"].iloc[NEAREST:] <= SAME).sum())
        more = f" ({as_near} more {'is' if as_near == 1 else 'are'} as near)" if as_near else ""
        parts.append(f"{stage} {f'all three of {senses.index[0]}' if len(senses) == 1 else which}{more}")
    return f"Senses of the three nearest: {'; '.join(parts)}."


def no_sentences(word: str) -> str:
    """Say that the word has no labelled sentences."""
    return f'There are no labelled sentences of "{word}", so what its vectors mean can\'t be said in words.'
