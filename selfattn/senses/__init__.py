"""Do heads separate a word's senses, and do they bring them in? Over many labelled sentences, beside the baselines."""

from selfattn.analysis.usable_rows import check_rows
from selfattn.senses.checkpoints import CheckpointsReport, compare_checkpoints
from selfattn.senses.explaining import TargetReport, over_sentences
from selfattn.senses.hiding import HiddenWordsReport, hidden_words
from selfattn.senses.nearest_centroid import SeparationReport, separation
from selfattn.senses.random_weights import random_twin
from selfattn.senses.swapping import SwapReport, interchange, leading_heads
from selfattn.senses.what_heads_do import HeadProfiles, head_profiles

__all__ = [
    "CheckpointsReport",
    "HeadProfiles",
    "HiddenWordsReport",
    "SeparationReport",
    "SwapReport",
    "TargetReport",
    "check_rows",
    "compare_checkpoints",
    "head_profiles",
    "hidden_words",
    "interchange",
    "leading_heads",
    "over_sentences",
    "random_twin",
    "separation",
]
