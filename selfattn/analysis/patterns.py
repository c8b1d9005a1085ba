"""Match attention heads with patterns, such as "previous token".

Source: Clark et al. 2019, "What Does BERT Look At?", section 3. The thresholds are our choice.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from selfattn.analysis.measures import ordinary_rows, row_measures
from selfattn.encoders.encoding import Encoding

# The meaning and the threshold of each pattern, as in `Fit`
PATTERNS = {
    "previous token": ("at least half of its weight on the token before", 0.5),
    "next token": ("at least half of its weight on the token after", 0.5),
    "itself": ("at least half of its weight on the query token itself", 0.5),
    "special tokens": ("at least two thirds of its weight on special tokens", 2 / 3),
    "punctuation": ("at least half of its weight on punctuation", 0.5),
    "broad": ("weights with at least 90 % of the maximum entropy", 0.9),
}


@dataclass(frozen=True)
class Fit:
    """A head's fit to a pattern: the measured value, and the threshold that it must reach."""

    name: str
    meaning: str
    value: float  # 0 to 1, mean over the ordinary tokens
    threshold: float

    @property
    def fits(self) -> bool:
        return self.value >= self.threshold


def pattern_values(weights: Tensor, encoding: Encoding) -> dict[str, Tensor]:
    """Return each head's value for each pattern, 0 to 1: (..., n, n) -> (...).

    The value is the share of weight on the tokens that the pattern names; for "broad", entropy / largest possible entropy.
    """
    rows, n = ordinary_rows(encoding), weights.shape[-1]
    marks = [p for word in encoding.words if word.is_punctuation for p in word.positions]
    found = row_measures(weights, encoding)
    found["punctuation"] = weights[..., rows, :][..., marks].sum(-1).mean(-1)
    found["broad"] = found["entropy"] / (math.log2(n) or 1.0)
    return {name: found[name] for name in PATTERNS}


def fits(weights: Tensor, encoding: Encoding) -> list[Fit]:
    """Return one head's fit to every pattern, the best first. weights: (n, n)."""
    return nearest_first({name: float(value) for name, value in pattern_values(weights, encoding).items()})


def nearest_first(values: Mapping[str, float]) -> list[Fit]:
    """Return a head's fit to every pattern, sorted by value / threshold, the largest first."""
    every = [Fit(name, meaning, values[name], threshold) for name, (meaning, threshold) in PATTERNS.items()]
    return sorted(every, key=lambda fit: fit.value / fit.threshold, reverse=True)
