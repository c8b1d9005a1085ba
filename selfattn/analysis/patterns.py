"""Named patterns of attention heads, each with a threshold that a head must reach before it is called by the name.

Source: the patterns of Clark et al. 2019, "What Does BERT Look At?", section 3; the thresholds are ours.
"""

import math
from dataclasses import dataclass

from torch import Tensor

from selfattn.analysis.measures import entropy, ordinary_rows, row_measures
from selfattn.encoders.encoding import Encoding

# name: (what it means, the threshold)
PATTERNS = {
    "previous token": ("at least half of the weight on the token before", 0.5),
    "next token": ("at least half of the weight on the token after", 0.5),
    "itself": ("at least half of the weight on the token itself", 0.5),
    "special tokens": ("at least two thirds of the weight on special tokens", 2 / 3),
    "punctuation": ("at least half of the weight on punctuation", 0.5),
    "broad": ("an entropy of at least nine tenths of the largest possible", 0.9),
}


@dataclass(frozen=True)
class Fit:
    """How near a head comes to a named pattern: a share of its weight, 0 to 1, against the threshold."""

    name: str
    meaning: str
    value: float  # mean over the sentence's ordinary tokens
    threshold: float

    @property
    def fits(self) -> bool:
        """Whether the head may be called by this name in this sentence."""
        return self.value >= self.threshold


def fits(weights: Tensor, encoding: Encoding) -> list[Fit]:
    """Every named pattern for one head's weights (n, n), the nearest (value / threshold) first."""
    values = {
        **{name: float(value) for name, value in row_measures(weights, encoding).items() if name in PATTERNS},
        "punctuation": _punctuation(weights, encoding),
        "broad": _broad(weights, encoding),
    }
    every = [Fit(name, meaning, values[name], threshold) for name, (meaning, threshold) in PATTERNS.items()]
    return sorted(every, key=lambda fit: fit.value / fit.threshold, reverse=True)


def _punctuation(weights: Tensor, encoding: Encoding) -> float:
    marks = [p for word in encoding.words if not any(c.isalnum() for c in word.text) for p in word.positions]
    return float(weights[ordinary_rows(encoding)][:, marks].sum(-1).mean())


def _broad(weights: Tensor, encoding: Encoding) -> float:
    most = math.log2(weights.shape[-1])
    return float(entropy(weights[ordinary_rows(encoding)]).mean() / most) if most else 0.0
