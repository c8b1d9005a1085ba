"""Compute the hand-made attention head of the page "From scratch"."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from selfattn.examples import Example
from selfattn.kernel import AttentionTrace, attend

WORDS = {"river": ("The", "bank", "of", "the", "river"), "loan": ("The", "bank", "approved", "the", "loan")}
REAL = Example(  # the sentences for a real encoder, and a control sentence
    "bank", "The bank of the river.", "The bank approved the loan.", "The bank sloped toward the stream.",
    ("riverside", "finance"),
)  # fmt: skip
BANK, LAST = 1, 4  # positions of "bank", and of "river" or "loan"
ABOUT = ("money", "water", "glue")  # what an embedding's numbers mean (glue: the word only joins other words)
_numbers = partial(torch.tensor, dtype=torch.float64)
EMBEDDINGS = {
    "the": _numbers((0, 0, 1)), "bank": _numbers((1, 1, 0)), "of": _numbers((0, 0, 1)), "river": _numbers((0, 3, 0)),
    "approved": _numbers((1, 0, 1)), "loan": _numbers((3, 0, 0)),
}  # fmt: skip
MATRICES = (  # W_Q, W_K, W_V
    _numbers(((1, 0), (0, 1), (0, 0))),  # money and water
    _numbers(((1, 0), (0, 1), (-1, -1))),  # money and water, each minus glue, so that glue words fit no query
    _numbers(((1, -1), (-1, 1), (0, 0))),  # money minus water, water minus money
)
W_OUTPUT = _numbers(((0.5, 0, 0), (0, 0.5, 0)))


@dataclass(frozen=True, eq=False)
class Bank:
    """Inputs and results of the hand-made head for one sentence."""

    words: tuple[str, ...]
    embeddings: Tensor  # (5, 3)
    trace: AttentionTrace  # query, key, value (5, 2)
    added: Tensor  # (3,) what the head adds to "bank": its context times W_O
    total: Tensor  # (3,) embedding of "bank" plus `added`


def embeddings_of(sentence: str) -> dict[str, Tensor]:
    """Return the embedding (3,) of each word. sentence: "river" or "loan"."""
    return {word.lower(): EMBEDDINGS[word.lower()] for word in WORDS[sentence]}


def compute(sentence: str = "river", typed: Mapping[str, Tensor] = EMBEDDINGS, hidden: int | None = None) -> Bank:
    """Run the hand-made head on one sentence.

    typed: the embedding (3,) of each word
    hidden: a position that "bank" may not attend to
    """
    words = WORDS[sentence]
    embeddings = torch.stack([typed[word.lower()] for word in words])
    mask = None
    if hidden is not None:
        mask = torch.ones(len(words), len(words), dtype=torch.bool)
        mask[BANK, hidden] = False
    trace = attend(*(embeddings @ matrix for matrix in MATRICES), mask)
    added = trace.context[BANK] @ W_OUTPUT
    return Bank(words, embeddings, trace, added, embeddings[BANK] + added)
