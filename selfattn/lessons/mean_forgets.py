"""A weighted mean forgets: other values, the same context ("no information is lost" is too strong).

Source: the context is one vector of d_value numbers, made from n of them; all but one combination are gone.
"""

from dataclasses import dataclass

from torch import Tensor

from selfattn.kernel import AttentionTrace, attend
from selfattn.lessons import worked_example


@dataclass(frozen=True, eq=False)
class SameMean:
    """Two sets of values that the same weights mix into the same context."""

    before: Tensor  # (n, d_value)
    after: Tensor  # (n, d_value)
    context: Tensor  # (d_value,) of the other values
    difference: float  # the largest difference of the contexts


def same_mean(amount: float = 1.0) -> SameMean:
    """Move the two heaviest values of the worked example apart so that the weighted mean stays where it is."""
    trace = worked_example.compute()
    weights = trace.weights[0]
    heavy, light = weights.topk(2).indices.tolist()
    after = trace.value.clone()
    # What the heavy value gains, weighed, the light one loses, weighed: their sum doesn't move.
    after[heavy] += amount * weights[light]
    after[light] -= amount * weights[heavy]
    context = attend(trace.query, trace.key, after, scale=trace.scale).context
    return SameMean(trace.value, after, context[0], float((context - trace.context).abs().max()))


def forgets_order(trace: AttentionTrace) -> float:
    """The largest change of the context when keys and values are read in reverse order: rounding at most."""
    backwards = attend(trace.query, trace.key.flip(-2), trace.value.flip(-2), scale=trace.scale)
    return float((backwards.context - trace.context).abs().max())
