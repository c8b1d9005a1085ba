"""Do heads separate the senses of a word? Over many labelled sentences, beside the baselines that keep one honest."""

from selfattn.senses.nearest_centroid import SeparationReport, separation
from selfattn.senses.random_weights import random_twin
from selfattn.senses.removed_heads import RemovalReport, removal
from selfattn.senses.unlabelled import ClusterReport, clusters
from selfattn.senses.usable_rows import check_rows

__all__ = [
    "ClusterReport",
    "RemovalReport",
    "SeparationReport",
    "check_rows",
    "clusters",
    "random_twin",
    "removal",
    "separation",
]
