"""Take one token's row of a head, with every step, for the kernel figure."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from selfattn.encoders.capture import Head
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.kernel import AttentionTrace

MOST = 64  # tokens: up to this many, each token has a row
LEADING = 24  # tokens of a longer sentence that have a row each; its other tokens share one row


@dataclass(frozen=True, eq=False, kw_only=True)
class QueryRow:
    """One token's row of a head, with every step."""

    trace: AttentionTrace  # of one head: query (n_rows, d_head), key (n, d_head), scores (n_rows, n) ...
    tokens: tuple[str, ...]  # n
    query: int  # the position of the query's token; -1 (and `first` too) if the query is none of the tokens
    name: str = ""  # "A" or "B"
    first: int = 0  # the token of the trace's first row
    special: tuple[bool, ...] = ()  # one per token; () if no token is special
    word: tuple[int, ...] = ()  # the positions of the word that the page is about
    text: str = ""  # the query's name, if it is none of the tokens

    @property
    def row(self) -> int:
        """The row of the trace."""
        return self.query - self.first

    @property
    def asks(self) -> str:
        """The query's name: its token, or `text`."""
        return self.text or self.tokens[self.query]

    def of(self, step: str) -> Tensor:
        """This row of a step: (n,) of "scores", "scaled", "masked", "exponentials" or "weights", (d_head,) of "query"."""
        return getattr(self.trace, step)[self.row]

    @property
    def terms(self) -> dict[str, Tensor]:
        """The terms added to the scaled scores, (n,) by name. "mask" is a float mask, if it changes this row."""
        shape, mask = self.trace.scores.shape, self.trace.mask
        found = {term.name: term.values.expand(shape)[self.row] for term in self.trace.terms}
        if mask is not None and mask.dtype != torch.bool:
            found["mask"] = mask.expand(shape)[self.row].to(self.trace.scores.dtype)
        return {name: values for name, values in found.items() if name != "mask" or values.any()}

    @property
    def hidden(self) -> list[bool]:
        """True for each token that the query may not attend to, (n,)."""
        return (self.of("masked") == -math.inf).tolist()

    @property
    def handed(self) -> Tensor:
        """Weight times value of each token, (n, d_value)."""
        return self.of("weights")[:, None] * self.trace.value


def word_row(
    placed: PlacedWord[Encoding],
    head: Head,
    name: str = "",
    *,
    query: int | None = None,
    trace: AttentionTrace | None = None,
) -> QueryRow:
    """The row of a word's first piece, or of the token `query` of its sentence.

    trace: a trace of all tokens, to use instead of the head's own. Raises NotRecomputable for an encoder that is shown only.
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
    """The tokens that have a row, and the others, each in the sentence's order.

    In a long sentence the query and the tokens with the largest weights have a row.
    """
    n = len(row.tokens)
    if n <= MOST:
        return list(range(n)), []
    weights = row.of("weights").tolist()
    first = sorted(range(n), key=lambda at: -math.inf if at == row.query else -weights[at])[:LEADING]
    return sorted(first), sorted({*range(n)} - {*first})
