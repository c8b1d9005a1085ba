"""Reports over many labelled sentences: which words and heads give a word its sense, beside baselines."""

from typing import NoReturn

from selfattn.analysis.usable_rows import check_rows
from selfattn.senses.checkpoints import CheckpointsReport, compare_checkpoints
from selfattn.senses.nearest_centroid import SeparationReport, separation
from selfattn.senses.random_weights import random_twin
from selfattn.senses.targets_over_sentences import TargetReport, over_sentences
from selfattn.senses.telling_words import HiddenWordsReport, hidden_words
from selfattn.senses.unrelated_pairs import UnrelatedPairs, unrelated_pairs
from selfattn.senses.what_heads_do import HeadProfiles, head_profiles

__all__ = [
    "CheckpointsReport",
    "HeadProfiles",
    "HiddenWordsReport",
    "SeparationReport",
    "TargetReport",
    "UnrelatedPairs",
    "check_rows",
    "compare_checkpoints",
    "head_profiles",
    "hidden_words",
    "over_sentences",
    "random_twin",
    "separation",
    "unrelated_pairs",
]


def __getattr__(name: str) -> NoReturn:
    """Name what replaces the removed swaps over sentences."""
    if name in ("interchange", "leading_heads", "SwapReport"):
        raise ImportError(
            f"selfattn.senses.{name} was removed. hidden_words names the word that brings the sense in, over many sentences; "
            "selfattn.analysis.hiding.hidden_heads says through which heads, in one."
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
