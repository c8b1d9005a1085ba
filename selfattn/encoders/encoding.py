"""Hold the results of one text's forward pass."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from selfattn.encoders.capture import Hide, LayerRecording, Patch
from selfattn.encoders.errors import NotRecomputable
from selfattn.encoders.placed_word import Tokens
from selfattn.encoders.reference import own_weights
from selfattn.kernel import AttentionTrace
from selfattn.notebook_repr import html_table

BLOCK = 2**22  # weights computed at a time: 34 MB a step


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Encoding(Tokens):
    """The results of one text's forward pass, in float32 on the CPU. Attention weights have a row for each query."""

    states: tuple[Tensor, ...] = field(repr=False)  # n_layers + 1 of (n, d_model): layer inputs, last state
    static: Tensor  # (n, d_embedding): rows of the embedding table
    n_heads: int
    recordings: tuple[LayerRecording, ...] = field(repr=False, default=())  # one for each layer; may be empty
    shown: Tensor | None = field(repr=False, default=None)  # the model's own weights
    reason: str = ""  # why the attention isn't recomputable
    patches: tuple[Patch, ...] = ()
    hides: tuple[Hide, ...] = ()

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= 60 else f"{self.text[:57]}..."
        sizes = f"{len(self.tokens)} tokens, {self.n_layers} layers x {self.n_heads} heads"
        changes = f"{', heads replaced' if self.patches else ''}{', tokens hidden' if self.hides else ''}"
        return f"<Encoding of {text!r}: {sizes}{changes}>"

    def _repr_html_(self) -> str:
        return html_table(repr(self)[1:-1], [range(len(self.tokens)), self.tokens])

    @property
    def n_layers(self) -> int:
        return len(self.states) - 1

    @property
    def hidden(self) -> Tensor:
        """The hidden states, stacked: (n_layers + 1, n, d_model)."""
        return torch.stack(self.states)

    def trace(self, layer: int, head: int, rows: slice | None = None) -> AttentionTrace:
        """Recompute every step of one head's attention: (n, d_head) and (n, n) tensors.

        rows: compute only these queries
        Raises IndexError and NotRecomputable.
        """
        if self.shown is not None:
            raise NotRecomputable(f"selfattn can't recompute this encoder's attention: {self.reason}")
        layer, heads = self._checked(layer, head)
        return self.recordings[layer].trace(heads, rows or slice(None))

    def weights(self, layer: int, head: int | None = None, rows: slice | None = None) -> Tensor:
        """Recompute a layer's attention weights: (n_heads, n, n), or (n, n) for one head.

        rows: compute only these queries
        Raises IndexError.
        """
        (layer, heads), rows = self._checked(layer, head), rows or slice(None)
        if self.shown is not None:
            return self.shown[layer, heads, rows]
        n = len(self.tokens)
        size = max(1, BLOCK // (n * (self.n_heads if head is None else 1)))
        queries = range(n)[rows]
        blocks = [queries[first : first + size] for first in range(0, max(len(queries), 1), size)]
        recording = self.recordings[layer]
        return torch.cat([recording.weights(heads, slice(b.start, b.stop, b.step)) for b in blocks], dim=-2)

    def rows(self, position: int) -> Tensor:
        """Compute one query's attention weights in every head: (n_layers, n_heads, n)."""
        position = _within(position, len(self.tokens), "position")
        row = slice(position, position + 1)
        return torch.stack([self.weights(layer, rows=row)[:, 0] for layer in range(self.n_layers)])

    def word_rows(self, positions: Sequence[int]) -> Tensor:
        """Return attention weights, averaged over a word's queries: (n_layers, n_heads, n)."""
        return torch.stack([self.rows(position) for position in positions]).mean(dim=0)

    def own_weights(self, layer: int, head: int | None = None) -> Tensor:
        """Return the model's own attention weights: (n_heads, n, n), or (n, n) for one head."""
        layer, heads = self._checked(layer, head)
        return self.shown[layer, heads] if self.shown is not None else own_weights(self.recordings[layer], head)

    def own_context(self, layer: int) -> Tensor:
        """Return the layer's input of W_O, in which `patches` have replaced heads' outputs: (n_heads, n, d_head).

        Raises NotRecomputable and IndexError.
        """
        if not self.recordings:
            raise NotRecomputable(f"The outputs of this encoder's heads can't be read: {self.reason}")
        return self.recordings[_within(layer, self.n_layers, "layer")].context[0].transpose(0, 1).float().cpu()

    def context(self, positions: Sequence[int]) -> Tensor:
        """Return each head's context vector, averaged over the tokens at `positions`: (n_layers, n_heads, d_head)."""
        at = list(positions)
        return torch.stack([self.own_context(layer)[:, at].mean(dim=1) for layer in range(self.n_layers)])

    def vector(self, layer: int, positions: Sequence[int]) -> Tensor:
        """Return the hidden state before `layer`, averaged over a word's positions: (d_model,)."""
        return self.states[layer][list(positions)].mean(dim=0)

    def _checked(self, layer: int, head: int | None) -> tuple[int, int | slice]:
        layer = _within(layer, self.n_layers, "layer")
        return layer, slice(None) if head is None else _within(head, self.n_heads, "head")


def _within(index: int, count: int, what: str) -> int:
    if not 0 <= index < count:
        raise IndexError(f"Expected a {what} from 0 to {count - 1}, got {index}.")
    return int(index)
