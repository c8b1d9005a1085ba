"""The thread of the guided path: "bank" beside a river or a loan, from its one static vector to the vector that the head leaves.

Source: ours, made so that every number can be read: an embedding says how much a word is about money, about water, and
whether it only glues others together. The search is the one that the lessons tell in words ("am I money or land?").
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from selfattn.examples import Example
from selfattn.kernel import AttentionTrace, attend
from selfattn.lessons import typed_numbers

WORDS = {"river": ("The", "bank", "of", "the", "river"), "loan": ("The", "bank", "approved", "the", "loan")}
REAL = Example(  # the same words before a real encoder, and a sentence to compare with
    "bank", "The bank of the river.", "The bank approved the loan.", "The bank sloped toward the stream.",
    ("river side", "money house"),
)  # fmt: skip
BANK, LAST = 1, 4  # positions of the word that asks, and of the one that answers
EMBEDDINGS = {
    "the": (0.0, 0.0, 1.0), "bank": (1.0, 1.0, 0.0), "of": (0.0, 0.0, 1.0), "river": (0.0, 3.0, 0.0),
    "approved": (1.0, 0.0, 1.0), "loan": (3.0, 0.0, 0.0),
}  # fmt: skip
ABOUT = ("money", "water", "glue")  # the numbers of an embedding; a query, key or value has the first two
_matrix = partial(torch.tensor, dtype=torch.float64)
W_QUERY = _matrix(((1.0, 0.0), (0.0, 1.0), (0.0, 0.0)))  # looks for what the word is about
W_KEY = _matrix(((1.0, 0.0), (0.0, 1.0), (-1.0, -1.0)))  # glue is filed under nothing
W_VALUE = _matrix(((1.0, -1.0), (-1.0, 1.0), (0.0, 0.0)))  # the difference: an undecided word hands over nothing
W_OUTPUT = _matrix(((0.5, 0.0, 0.0), (0.0, 0.5, 0.0)))


@dataclass(frozen=True, eq=False)
class Bank:
    """One sentence through one head, and what that leaves of "bank"."""

    words: tuple[str, ...]
    embeddings: Tensor  # (5, 3)
    trace: AttentionTrace  # query, key, value (5, 2)
    added: Tensor  # (3,) what the head adds to "bank": its context times W_O
    total: Tensor  # (3,) the word's own vector, and that


def compute(
    sentence: str = "river", typed: Mapping[str, Sequence[float]] = EMBEDDINGS, hidden: int | None = None
) -> Bank:
    """The sentence whose last word is "river" or "loan". typed: embeddings in place of ours; hidden: a place that "bank" may
    not attend to."""
    words = WORDS[sentence]
    known = EMBEDDINGS | dict(typed)
    embeddings = typed_numbers.matrix("Embeddings", [known[word.lower()] for word in words], 3)
    query, key, value = (embeddings @ matrix for matrix in (W_QUERY, W_KEY, W_VALUE))
    mask = None
    if hidden is not None:
        mask = torch.ones(len(words), len(words), dtype=torch.bool)
        mask[BANK, hidden] = False
    trace = attend(query, key, value, mask)
    added = trace.context[BANK] @ W_OUTPUT
    return Bank(words, embeddings, trace, added, embeddings[BANK] + added)
