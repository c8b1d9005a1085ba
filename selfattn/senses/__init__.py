"""Do heads tell the senses of a word apart? Over many labelled sentences, beside the baselines that keep one honest."""

from selfattn.senses.clusters import ClusterReport, clusters
from selfattn.senses.floor import random_twin
from selfattn.senses.removal import RemovalReport, removal
from selfattn.senses.rows import check_rows
from selfattn.senses.separation import SeparationReport, separation

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
