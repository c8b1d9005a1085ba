"""Define `QueryRow`, one token's row of every step in a head's trace, for the kernel figure."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from selfattn.encoders.capture import Head
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.kernel import AttentionTrace

MOST = 64  # in a sentence of up to this many tokens, each token has a row in the figure
LEADING = 24  # in a longer sentence, this many tokens have a row each; the other tokens share one row


@dataclass(frozen=True, eq=False, kw_only=True)
class QueryRow:
    """The row of a head's trace for one query token, with every step."""

    trace: AttentionTrace  # of one head: query (n_rows, d_head), key (n, d_head), scores (n_rows, n) ...
    tokens: tuple[str, ...]  # n tokens
    query: int  # the query's position; if the query is none of the tokens, `query` and `first` are -1
    name: str = ""  # "A" or "B"
    first: int = 0  # the position of the token in the trace's first row
    special: tuple[bool, ...] = ()  # one per token; () if no token is special
    word: tuple[int, ...] = ()  # the positions of the word that the page is about
    text: str = ""  # the query's name, if the query is none of the tokens

    @property
    def row(self) -> int:
        """The index of the query's row in the trace."""
        return self.query - self.first

    @property
    def asks(self) -> str:
        """The name of the query: the token at its position or, if it has none, `text`."""
        return self.text or self.tokens[self.query]

    def of(self, step: str) -> Tensor:
        """Return the query's row of a step, a field of the trace: (d_head,) for "query", (n,) for "scores" or "weights"."""
        return getattr(self.trace, step)[self.row]

    @property
    def terms(self) -> dict[str, Tensor]:
        """The terms added to the scaled scores, by name: (n,) each. A float mask that isn't 0 in this row is the term "mask"."""
        shape, mask = self.trace.scores.shape, self.trace.mask
        found = {term.name: term.values.expand(shape)[self.row] for term in self.trace.terms}
        if mask is not None and mask.dtype != torch.bool:
            found["mask"] = mask.expand(shape)[self.row].to(self.trace.scores.dtype)
        return {name: values for name, values in found.items() if name != "mask" or values.any()}

    @property
    def hidden(self) -> list[bool]:
        """True for each token that is masked for the query: n values."""
        return (self.of("masked") == -math.inf).tolist()

    @property
    def handed(self) -> Tensor:
        """Each token's weight times its value vector: (n, d_value)."""
        return self.of("weights")[:, None] * self.trace.value


def word_row(
    placed: PlacedWord[Encoding],
    head: Head,
    name: str = "",
    *,
    query: int | None = None,
    trace: AttentionTrace | None = None,
) -> QueryRow:
    """Return the row of a word's first piece or, if `query` is given, of the token at that position.

    trace: a trace of all tokens, to use instead of the head's trace. Raises NotRecomputable for an encoder whose attention
    selfattn can't recompute.
    """
    encoding = placed.sentence
    at = placed.positions[0] if query is None else query
    first = 0 if trace is not None else at
    trace = trace or encoding.trace(*head, slice(at, at + 1))
    whole = {word.start: word.label for word in encoding.words if len(word.positions) == 1}
    tokens = tuple(whole.get(position, token) for position, token in enumerate(encoding.tokens))
    return QueryRow(
        trace=trace, tokens=tokens, query=at, name=name, first=first, special=encoding.special, word=placed.positions,
    )  # fmt: skip


def leading(row: QueryRow) -> tuple[list[int], list[int]]:
    """Return the tokens that have a row in the figure, and the other tokens, both in the sentence's order.

    In a long sentence, only the query and the tokens with the largest weights have a row.
    """
    n = len(row.tokens)
    if n <= MOST:
        return list(range(n)), []
    weights = row.of("weights").tolist()
    first = sorted(range(n), key=lambda at: -math.inf if at == row.query else -weights[at])[:LEADING]
    return sorted(first), sorted({*range(n)} - {*first})
