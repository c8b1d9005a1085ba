"""Report which words and heads give a word its sense, over many sentences."""

from selfattn.analysis.usable_rows import check_rows
from selfattn.senses.checkpoints import CheckpointsReport, compare_checkpoints
from selfattn.senses.nearest_centroid import SeparationReport, separation
from selfattn.senses.random_weights import random_twin
from selfattn.senses.targets_over_sentences import TargetReport, over_sentences
from selfattn.senses.telling_words import HiddenWordsReport, hidden_words
from selfattn.senses.unrelated_pairs import UnrelatedPairs, unrelated_pairs
from selfattn.senses.what_heads_do import HeadProfiles, head_profiles

__all__ = [
    "CheckpointsReport", "HeadProfiles", "HiddenWordsReport", "SeparationReport", "TargetReport", "UnrelatedPairs",
    "check_rows", "compare_checkpoints", "head_profiles", "hidden_words", "over_sentences", "random_twin", "separation",
    "unrelated_pairs",
]  # fmt: skip
