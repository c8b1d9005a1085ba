"""The causal mask and the three things that look like it but aren't.

Source: Vaswani et al. 2017, section 3.2.3 (illegal connections are set to minus infinity before softmax). The three
other cases are what learners ask about.
"""

from dataclasses import dataclass

from torch import Tensor

from selfattn.kernel import attend
from selfattn.lessons.twelve_tokens import causal_mask


@dataclass(frozen=True, eq=False)
class MaskCase:
    """One way of keeping later tokens out, and what it leaves."""

    name: str
    weights: Tensor  # (n, n)

    @property
    def row_sums(self) -> Tensor:
        """(n,): 1 where softmax was the last step."""
        return self.weights.sum(-1)

    @property
    def leaked(self) -> float:
        """The largest share of any row's weight that falls on later tokens."""
        return float(self.weights.triu(1).sum(-1).max())


def four_cases(query: Tensor, key: Tensor) -> tuple[MaskCase, ...]:
    """The four cases for one head: query and key (n, d_head).

    Add minus infinity before softmax; multiply the scores by 0 before softmax; multiply the weights by 0 after it;
    that, and divide each row by its sum.
    """
    if query.shape != key.shape or query.dim() != 2:
        shapes = f"{tuple(query.shape)} and {tuple(key.shape)}"
        raise ValueError(f"Expected query and key of one shape (n, d_head), got {shapes}. Give one head's.")
    allowed = causal_mask(len(query))
    bare = attend(query, key, key)
    added = attend(query, key, key, mask=allowed).weights
    zeroed_scores = (bare.scaled * allowed).softmax(-1)
    zeroed_weights = bare.weights * allowed
    total = zeroed_weights.sum(-1, keepdim=True)
    return (
        MaskCase("add −∞ to the scores", added),
        MaskCase("multiply the scores by 0", zeroed_scores),
        MaskCase("multiply the weights by 0", zeroed_weights),
        MaskCase("… and divide by the row's sum", zeroed_weights / total.masked_fill(total == 0, 1.0)),
    )
