"""Define `QueryRow`: each step of one head's attention, for one query token."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from selfattn.encoders.capture import Head
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.kernel import AttentionTrace

MOST = 64  # tokens: in a sentence up to this long, each token has a row in the figure
LEADING = 24  # rows for a longer sentence; the other tokens share one row


@dataclass(frozen=True, eq=False, kw_only=True)
class QueryRow:
    """A head's trace, and the query whose row is shown."""

    trace: AttentionTrace  # of one head: query (n_rows, d_head), key (n, d_head), scores (n_rows, n)
    tokens: tuple[str, ...]  # n tokens
    query: int  # the query's position; -1 (`first` too) if the query isn't a token
    name: str = ""  # "A" or "B"
    first: int = 0  # position of the trace's first row
    special: tuple[bool, ...] = ()  # one per token; () if none is special
    word: tuple[int, ...] = ()  # positions of the word that the page is about
    text: str = ""  # the query's name, if the query isn't a token

    @property
    def row(self) -> int:
        """The index of the query's row in `trace`."""
        return self.query - self.first

    @property
    def asks(self) -> str:
        """The query's token, or the field `text` if the query isn't a token."""
        return self.text or self.tokens[self.query]

    def of(self, step: str) -> Tensor:
        """Return the query's row of the trace's tensor named `step`: (d_head,) for "query", (n,) for "weights"."""
        return getattr(self.trace, step)[self.row]

    @property
    def terms(self) -> dict[str, Tensor]:
        """The terms added to the scaled scores, by name: (n,) each."""
        shape, mask = self.trace.scores.shape, self.trace.mask
        found = {term.name: term.values.expand(shape)[self.row] for term in self.trace.terms}
        if mask is not None and mask.dtype != torch.bool:
            found["mask"] = mask.expand(shape)[self.row].to(self.trace.scores.dtype)
        return {name: values for name, values in found.items() if name != "mask" or values.any()}

    @property
    def hidden(self) -> list[bool]:
        """True for each token that is masked for the query."""
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
    """Return the `QueryRow` of a word's first token, or of the token at `query`.

    trace: replaces the head's trace. Raises NotRecomputable if selfattn can't recompute the attention.
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
    """Return the positions that have a row in the figure, and the remaining positions."""
    n = len(row.tokens)
    if n <= MOST:
        return list(range(n)), []
    weights = row.of("weights").tolist()
    first = sorted(range(n), key=lambda at: -math.inf if at == row.query else -weights[at])[:LEADING]
    return sorted(first), sorted({*range(n)} - {*first})
