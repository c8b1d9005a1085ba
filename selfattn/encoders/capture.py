"""Record each layer's query, key, value and mask during the model's normal pass; `Patch` and `Hide` change that pass.

transformers calls a registered function in each layer. Ours calls `sdpa` unchanged and hands the pass's recorder that layer's
query, key, value, mask and scale, after biases and rotary positions. Families that never ask for a function have hooks instead
(`hooks.py`). A ContextVar holds the recorder, so passes of other threads can't disturb it. The recorder counts calls to know
the layer, because several families give their attention modules no index.

A `Patch` replaces a head's output; a `Hide` hides tokens from others, by the mask.
"""

import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import repeat_kv, sdpa_attention_forward
from transformers.masking_utils import eager_mask, sdpa_mask

from selfattn.encoders.pair_terms import DistanceVectors, PositionBias, of_sentence
from selfattn.encoders.placed_word import Tokens
from selfattn.encoders.precision import attend_precisely, precision
from selfattn.kernel import AttentionTrace, rounded

IMPLEMENTATION, EAGER = "selfattn", "selfattn eager"


class Head(NamedTuple):
    """One attention head; both numbers count from 0. Its name in labels and files: "L3 H7"."""

    layer: int
    head: int

    def __str__(self) -> str:
        return f"L{self.layer} H{self.head}"

    @classmethod
    def named(cls, name: str) -> "Head":
        """The head of a name: "L5 H10", "L5H10". Raises ValueError."""
        if not (found := re.fullmatch(r"L(\d{1,4}) ?H(\d{1,4})", name.strip(), re.ASCII)):
            raise ValueError(f"Expected a head as L5H10, got {name[:40]!r}.")
        return cls(int(found[1]), int(found[2]))


@dataclass(frozen=True, eq=False)
class Patch:
    """Replace a head's context, the vector that enters W_O, at some positions of a text. `Encoder.encode` checks it.

    Source: Geiger et al. 2021, "Causal Abstractions of Neural Networks".
    """

    layer: int
    head: int
    positions: tuple[int, ...] | None  # None: every position
    value: Tensor = field(repr=False)  # (d_head,), the same at each position, or (len(positions), d_head)


@dataclass(frozen=True, eq=False)
class Hide:
    """Hide tokens from others: minus infinity is added to their scaled scores, as for padding. `Encoder.encode` checks it.

    Only these queries' rows change: other tokens still pass on what they took from the hidden ones.
    Source: Geva et al. 2023, "Dissecting Recall of Factual Associations in Auto-Regressive Language Models", section 5
    (attention knockout).
    """

    queries: tuple[int, ...]  # positions: from these ...
    keys: tuple[int, ...]  # ... these are hidden
    heads: Collection[Head] | None = None  # None: in every head of every layer

    def __post_init__(self) -> None:
        for name in ("queries", "keys"):
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, int) else tuple(given))
        if self.heads is not None:
            heads = (self.heads,) if isinstance(self.heads, Head) else self.heads
            object.__setattr__(self, "heads", tuple(Head(*head) for head in heads))

    def edges(self, layer: int, n_heads: int) -> Iterable[tuple[int, int, int]]:
        """The (head, query, key) triples hidden in a layer."""
        heads = range(n_heads) if self.heads is None else [head for at, head in self.heads if at == layer]
        return product(heads, self.queries, self.keys)


def check_patches(patches: Collection[Patch], n_layers: int, n_heads: int, d_head: int, n: int) -> None:
    """Refuse patches that don't fit an encoder of this shape, a text of n tokens, or one another. Raises ValueError."""
    taken = set()
    for patch in patches:
        name, at = Head(patch.layer, patch.head), patch.positions
        if not (0 <= patch.layer < n_layers and 0 <= patch.head < n_heads):
            raise ValueError(f"Expected a patch of L0 H0 to L{n_layers - 1} H{n_heads - 1}, got {name}.")
        if at is not None and (not at or not all(0 <= p < n for p in at)):
            raise ValueError(f"Expected positions from 0 to {n - 1} for the patch of {name}, got {at}.")
        shapes = [(d_head,)] + ([] if at is None else [(len(at), d_head)])
        finite = bool(patch.value.isfinite().all())
        if tuple(patch.value.shape) not in shapes or not finite:
            wanted, among = " or ".join(map(str, shapes)), "" if finite else " with NaN or infinity among them"
            raise ValueError(
                f"Expected finite numbers of shape {wanted} for the patch of {name}, got {tuple(patch.value.shape)}{among}."
            )
        for p in range(n) if at is None else at:
            if (name, p) in taken:
                raise ValueError(f"Expected one patch a head and position, got two for {name} at position {p}.")
            taken.add((name, p))


def check_hidden(hidden: Collection[Hide], all_heads: Sequence[Head], tokens: Tokens) -> None:
    """Refuse heads and positions that the text or the encoder hasn't. Padding may be a key only. Raises ValueError."""
    n = len(tokens.ids)
    for hide in hidden:
        heads = all_heads if hide.heads is None else hide.heads
        if not heads:
            raise ValueError("Expected heads to hide tokens in, got none. None (heads=None) means all.")
        if strange := sorted({*heads} - {*all_heads}):
            raise ValueError(f"Expected heads L0 H0 to {all_heads[-1]}, got {strange[0]}.")
        for at, most in ((hide.queries, n - tokens.padding), (hide.keys, n)):
            if not at or not all(0 <= p < most for p in at):
                raise ValueError(f"Expected positions from 0 to {most - 1} to hide or to hide from, got {tuple(at)}.")
        if own := sorted({*hide.queries} & {*hide.keys}):
            names = ", ".join(f"{tokens.tokens[p]!r} at {p}" for p in own)
            raise ValueError(
                f"A token is never hidden from itself: {names} is among queries and keys. Take it from one."
            )


@dataclass(frozen=True, eq=False, kw_only=True)
class LayerRecording:
    """One layer's attention in one pass: its inputs and its context, on the model's device and in its dtype."""

    module: nn.Module  # the layer's own attention module
    query: Tensor  # (batch, n_heads, n, d_head)
    key: Tensor  # (batch, n_heads, n, d_head)
    value: Tensor  # (batch, n_heads, n, d_head)
    mask: Tensor | None  # bool or float, broadcast to (batch, n_heads, n, n), with hidden tokens in it
    terms: tuple[PositionBias | DistanceVectors, ...]  # added to the scaled scores; empty in most families
    scale: float
    context: Tensor  # (batch, n, n_heads, d_head): enters W_O, patches in place
    arguments: Mapping[str, Tensor] = field(default_factory=dict)  # of a hooked module's call; empty for the interface

    def sentence(self, index: int, n: int) -> "LayerRecording":
        """The recording of one sentence of the batch, cut back to its first n tokens; batch becomes 1."""
        one, batch = slice(index, index + 1), self.query.shape[0]
        query, key, value = (tensor[one, :, :n] for tensor in (self.query, self.key, self.value))
        context = self.context[one, :n]
        if batch > 1:  # a view would keep the whole batch alive
            query, key, value, context = (tensor.clone() for tensor in (query, key, value, context))
        mask = None if self.mask is None else of_sentence(self.mask, index, n)
        if mask is not None and mask.dtype == torch.bool and mask.all():  # it hides nothing
            mask = None
        return replace(
            self, query=query, key=key, value=value, mask=mask, terms=tuple(term.sentence(index, n) for term in self.terms),
            context=context, arguments={k: _argument(k, v, index, n) for k, v in self.arguments.items()},
        )  # fmt: skip

    def kernel_mask(self, rows: slice = slice(None)) -> Tensor | None:
        """The mask for the kernel: (n_heads or 1, n_rows or 1, n) on the CPU, bool, or float32 if it adds other numbers."""
        if self.mask is None:
            return None
        mask = (self.mask[0, :, rows] if self.mask.shape[-2] > 1 else self.mask[0]).cpu()
        if mask.dtype == torch.bool:
            return mask
        lowest = torch.finfo(mask.dtype).min
        # Families that add the dtype's lowest number mean "may not attend".
        return mask > lowest if bool(((mask == 0) | (mask <= lowest)).all()) else mask.float()

    def trace(self, heads: int | slice = slice(None), rows: slice = slice(None)) -> AttentionTrace:
        """The kernel's steps, float32, for some heads and queries."""
        return rounded(self.attend(heads, rows), torch.float32)

    def weights(self, heads: int | slice = slice(None), rows: slice = slice(None)) -> Tensor:
        """The weights of `trace` alone, without rounding the other steps to float32."""
        return self.attend(heads, rows).weights.float()

    def attend(self, heads: int | slice, rows: slice) -> AttentionTrace:
        """The kernel's steps in float64; in float32 for a very long text."""
        query, key, value = (t[0, heads].cpu() for t in (self.query, self.key, self.value))
        asked = query[..., rows, :]
        exact = precision(asked, key)
        terms = [term.term(asked.to(exact), key.to(exact), self.scale, heads, rows) for term in self.terms]
        mask = self.kernel_mask(rows)
        if mask is not None:
            mask = mask.expand(self.query.shape[1], -1, -1)[heads]
        return attend_precisely(asked, key, value, mask, self.scale, terms)


class Recorder:
    """Records one forward pass, layer by layer; replaces heads' contexts and hides tokens on the way.

    patches, hidden: one collection for each sentence of the batch. keep=False: record nothing. differentiable=True: gradients
    can be taken by the recorded contexts. joins: the layers at which copies of the batch's one sentence join it
    (`joining.py`), in order. narrow: the last layer, and the positions that go on after its attention. after: the copies join
    after their layers, in which they differ at those positions alone.
    """

    def __init__(
        self,
        patches: Sequence[Collection[Patch]] = (),
        keep: bool = True,
        differentiable: bool = False,
        hidden: Sequence[Collection[Hide]] = (),
        joins: Sequence[int] = (),
        narrow: tuple[int, Sequence[int]] | None = None,
        after: bool = False,
    ):
        self.layers: list[LayerRecording] = []
        self.n_calls = 0
        self.pending: dict[str, object] = {}  # kept by a layer's hooks so far
        self.keep = keep
        self._differentiable = differentiable
        self.joins, self.after = joins, after
        self.first = 0  # the number in the batch of the first copy that runs now
        self.read: Tensor | None = None  # the unchanged sentence's input of this layer (1, n, d_model)
        self.last, self.rows = narrow or (None, ())
        self.whole: Tensor | None = None  # the last layer's input (batch, n, d_model), until its attention has read it
        self._patches = [(row, patch) for row, own in enumerate(patches) for patch in own]
        self._hidden = [(row, hide) for row, own in enumerate(hidden) for hide in own]

    def hide(self, mask: Tensor | None, shape: tuple[int, int, int], device: torch.device) -> Tensor | None:
        """The coming layer's mask with hidden tokens in it, of its own kind: (batch, n_heads or 1, n, n).

        shape: (batch, n_heads, n). Without hidden tokens the mask as it is.
        """
        batch, n_heads, n = shape
        layer = self.n_calls
        here = [
            (row - self.first, hide)
            for row, hide in self._hidden
            if self.first <= row < self.first + batch
            and (hide.heads is None or any(at == layer for at, _ in hide.heads))
        ]
        if not here:
            return mask
        heads = 1 if all(hide.heads is None for _, hide in here) else n_heads  # one mask for all
        edges = [(row, *edge) for row, hide in here for edge in hide.edges(layer, heads)]
        may = torch.ones(batch, heads, n, n, dtype=torch.bool, device=device)
        may[tuple(torch.tensor(edges, device=device).T)] = False
        if mask is None:
            return may
        mask = mask[:, None, None] if mask.dim() == 2 else mask
        return mask.masked_fill(~may, -torch.inf) if mask.is_floating_point() else (mask.bool() & may).to(mask.dtype)

    def receive(self, context: Tensor, inputs: Mapping[str, Any]) -> Tensor:
        """Take one layer's context (batch, n, n_heads, d_head); return the one to go on with. inputs: LayerRecording's others."""
        layer = self.n_calls
        self.n_calls += 1
        if here := [(row, patch) for row, patch in self._patches if patch.layer == layer]:
            context = _patched(context, here)
        if self._differentiable:
            context.requires_grad_()
        if self.keep:
            recording = LayerRecording(context=context, **inputs)
            if self._differentiable:
                query, key, value = (tensor.detach() for tensor in (recording.query, recording.key, recording.value))
                arguments = {name: tensor.detach() for name, tensor in recording.arguments.items()}
                recording = replace(recording, query=query, key=key, value=value, arguments=arguments)
            self.layers.append(recording)
        return context


_recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


def run(model: nn.Module, inputs: Mapping[str, Tensor], recorder: Recorder | None = None, **options):
    """Run the model with a recorder, which reaches every layer's attention in this call alone."""
    token = _recorder.set(recorder)
    try:
        return model(**inputs, **options)
    finally:
        _recorder.reset(token)


current_recorder = _recorder.get  # of the pass that this thread is in; None outside of `run`


def _patched(context: Tensor, patches: Sequence[tuple[int, Patch]]) -> Tensor:
    """The context with a layer's patches (sentence of the batch, patch). One write for all is faster than one each."""
    rows, positions, heads, values = [], [], [], []
    for row, patch in patches:
        at = range(context.shape[1]) if patch.positions is None else patch.positions
        rows += [row] * len(at)
        positions += at
        heads += [patch.head] * len(at)
        values.append(patch.value.expand(len(at), -1))
    context = context.clone()
    context[rows, positions, heads] = torch.cat(values).to(context)
    return context


def recorded_attention(module, query, key, value, attention_mask, **options):
    """The attention function given to transformers: `sdpa`, its inputs and its context handed to the recorder."""
    # Always pass it: if neither the call nor the module has it, transformers' sdpa runs causally (Splinter).
    causal = options.pop("is_causal", None)
    causal = getattr(module, "is_causal", False) if causal is None else causal
    if (recorder := current_recorder()) is not None:
        attention_mask = recorder.hide(attention_mask, tuple(query.shape[:3]), query.device)
    context, _ = sdpa_attention_forward(module, query, key, value, attention_mask, is_causal=causal, **options)
    if recorder is None:
        return context, None
    groups = query.shape[1] // key.shape[1]  # grouped-query attention shares keys and values between heads
    scale, bias = options.get("scaling"), options.get("position_bias")
    inputs = {
        "module": module,
        "query": query,
        "key": repeat_kv(key, groups),
        "value": repeat_kv(value, groups),
        "mask": attention_mask,
        "terms": () if bias is None else (PositionBias(bias),),
        "scale": query.shape[-1] ** -0.5 if scale is None else float(scale),
    }
    return recorder.receive(context, inputs), None


def eager_attention(module, query, key, value, attention_mask, **options):
    """The family's own slow function, which returns its weights, with the recorder's hidden tokens."""
    own = sys.modules[type(module).__module__].eager_attention_forward
    if (recorder := current_recorder()) is not None:
        attention_mask = recorder.hide(attention_mask, tuple(query.shape[:3]), query.device)
        recorder.n_calls += 1
    return own(module, query, key, value, added(attention_mask, query.dtype), **options)


def added(mask: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """The mask as numbers to add, which the families' slow functions take: the dtype's lowest for False."""
    if mask is None or mask.dtype != torch.bool:
        return mask
    return torch.zeros_like(mask, dtype=dtype).masked_fill(~mask, torch.finfo(dtype).min)


def _argument(name: str, tensor: Tensor, index: int, n: int) -> Tensor:
    """One sentence's part of a hooked module's argument."""
    if name in ("attention_mask", "mask", "position_bias", "relative_pos"):
        return of_sentence(tensor, index, n)
    if name == "rel_embeddings":  # (n_distances, d_model)
        return tensor
    if name == "sinusoidal_pos":  # (1, 1, n, d_head)
        return tensor[..., :n, :]
    own = tensor[index : index + 1, :n]  # the layer's input (batch, n, d_model)
    return own if tensor.shape[0] == 1 else own.clone()


AttentionInterface.register(IMPLEMENTATION, recorded_attention)
AttentionMaskInterface.register(IMPLEMENTATION, sdpa_mask)
AttentionInterface.register(EAGER, eager_attention)
AttentionMaskInterface.register(EAGER, eager_mask)
