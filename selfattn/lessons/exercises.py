"""Five exercises, from easy to hard: what was changed runs through the real kernel, and what came of it is the answer."""

import torch
from torch import Tensor

from selfattn.analysis.what_if import causal_mask, four_ways
from selfattn.kernel import attend
from selfattn.lessons import one_head_by_hand, worked_example

WANTED, WITHIN = 0.9, 0.005  # a weight, and how near
NEAR = 0.1  # of a ratio of 3
ENOUGH = 0.5  # of the way to the other sense
REPAIRS = (  # of the four ways to hide words, in their order
    "weights = softmax(scaled.masked_fill(~allowed, -inf))", "weights = softmax(scaled * allowed)",
    "weights = softmax(scaled) * allowed", "weights = w * allowed / (w * allowed).sum(-1)   # w = softmax(scaled)",
)  # fmt: skip
Answer = tuple[bool, str]  # whether the exercise is solved, and what the kernel gave


def nine_tenths(scale: float) -> Answer:
    """Which scale gives the river nine tenths of the attention of "bank"?"""
    trace = one_head_by_hand.compute().trace
    top = float(attend(trace.query, trace.key, trace.value, scale=scale).weights[one_head_by_hand.BANK].max())
    return abs(top - WANTED) < WITHIN, f"river gets {top:.3f}."


def three_to_one(scores: Tensor) -> Answer:
    """Two words share the weight: make it three to one. scores (2,)."""
    first, second = attend(scores.new_ones(1, 1), scores[:, None], scores[:, None]).weights[0].tolist()
    ratio = f", {first / second:.2f} to one" if second else ""
    return abs(first - 3 * second) < NEAR * second, f"The weights are {first:.3f} and {second:.3f}{ratio}."


def to_street(key: Tensor) -> Answer:
    """Make "it" attend to "street" most, by the key (2,) of "street" alone, and that no longer than it was."""
    animal, street, because = worked_example.KEYS
    weights = worked_example.compute(keys=torch.stack([animal, key, because])).weights[0].tolist()
    shares = ", ".join(f"{token} {weight:.2f}" for token, weight in zip(worked_example.TOKENS, weights))
    length, most = key.norm(), street.norm()
    right = weights[1] > max(weights[0], weights[2]) and length <= most + 1e-9
    return right, f"Now {shares}; its length is {length:.2f}, it was {most:.2f}."


def repair(line: str) -> Answer:
    """A causal attention multiplies its scores by the mask: which line repairs it?"""
    ways = four_ways(one_head_by_hand.compute().trace, causal_mask(len(one_head_by_hand.WORDS["river"])))
    way = ways[REPAIRS.index(line)]
    leaked, least = float(way.leaked.max()), float(way.weights.sum(-1).min())
    right = leaked == 0 and abs(least - 1) < 1e-6
    return right, f"Up to {leaked:.2f} of a row falls on later words; the smallest row sums to {least:.2f}."


def hidden(share: float) -> Answer:
    """Hide which word, so that "bank" goes at least half of the way to its other sense?"""
    return share >= ENOUGH, f"Hidden, it moves “bank” {100 * share:.0f} % of the way to its other sense."
