"""Record the attention of each layer during a forward pass of the model.

transformers calls a registered attention function in each layer. Our function computes attention with transformers' `sdpa`,
and passes query, key, value (after biases and rotary positions), mask and scale to the recorder. Families that never call a
registered function have hooks instead (`hooks.py`). A ContextVar holds the recorder, so that threads don't share it. The recorder
counts calls to know the layer, because several families give their attention modules no layer index.

A `Patch` replaces a head's output in the pass. A `Hide` changes the mask to hide tokens from other tokens.
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
    """An attention head: a layer and a head in that layer, both counted from 0. `str` returns a label such as "L3 H7"."""

    layer: int
    head: int

    def __str__(self) -> str:
        return f"L{self.layer} H{self.head}"

    @classmethod
    def named(cls, name: str) -> "Head":
        """Return the head with a label such as "L5 H10" or "L5H10". Raises ValueError for any other text."""
        if not (found := re.fullmatch(r"L(\d{1,4}) ?H(\d{1,4})", name.strip(), re.ASCII)):
            raise ValueError(f"Expected a head such as L5H10, got {name[:40]!r}.")
        return cls(int(found[1]), int(found[2]))


@dataclass(frozen=True, eq=False)
class Patch:
    """Replaces a head's context, which enters W_O, at some positions of a text. `Encoder.encode` checks the patch.

    Source: Geiger et al. 2021, "Causal Abstractions of Neural Networks".
    """

    layer: int
    head: int
    positions: tuple[int, ...] | None  # None: every position
    value: Tensor = field(repr=False)  # (d_head,) for all positions, or (len(positions), d_head)


@dataclass(frozen=True, eq=False)
class Hide:
    """Hides the keys from the queries: their scaled scores become minus infinity, as for padding.

    The queries can still receive information about a hidden token through other tokens. `Encoder.encode` checks a Hide.
    Source: Geva et al. 2023, "Dissecting Recall of Factual Associations in Auto-Regressive Language Models", section 5
    (attention knockout).
    """

    queries: tuple[int, ...]  # the positions that can't attend to the keys
    keys: tuple[int, ...]  # the positions that are hidden from the queries
    heads: Collection[Head] | None = None  # None: every head of every layer

    def __post_init__(self) -> None:
        for name in ("queries", "keys"):
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, int) else tuple(given))
        if self.heads is not None:
            heads = (self.heads,) if isinstance(self.heads, Head) else self.heads
            object.__setattr__(self, "heads", tuple(Head(*head) for head in heads))

    def edges(self, layer: int, n_heads: int) -> Iterable[tuple[int, int, int]]:
        """Return the (head, query, key) triples to hide in a layer."""
        heads = range(n_heads) if self.heads is None else [head for at, head in self.heads if at == layer]
        return product(heads, self.queries, self.keys)


def check_patches(patches: Collection[Patch], n_layers: int, n_heads: int, d_head: int, n: int) -> None:
    """Raise ValueError for patches that overlap, or that don't fit the encoder's shape or a text of n tokens."""
    taken = set()
    for patch in patches:
        name, at = Head(patch.layer, patch.head), patch.positions
        if not (0 <= patch.layer < n_layers and 0 <= patch.head < n_heads):
            raise ValueError(f"Expected a patch of a head from L0 H0 to L{n_layers - 1} H{n_heads - 1}, got {name}.")
        if at is not None and (not at or not all(0 <= p < n for p in at)):
            raise ValueError(f"Expected positions from 0 to {n - 1} for the patch of {name}, got {at}.")
        shapes = [(d_head,)] + ([] if at is None else [(len(at), d_head)])
        finite = bool(patch.value.isfinite().all())
        if tuple(patch.value.shape) not in shapes or not finite:
            wanted, among = " or ".join(map(str, shapes)), "" if finite else " with NaN or infinity"
            raise ValueError(
                f"Expected finite numbers of shape {wanted} for the patch of {name}, got {tuple(patch.value.shape)}{among}."
            )
        for p in range(n) if at is None else at:
            if (name, p) in taken:
                raise ValueError(f"There are two patches for {name} at position {p}. Remove one.")
            taken.add((name, p))


def check_hidden(hidden: Collection[Hide], all_heads: Sequence[Head], tokens: Tokens) -> None:
    """Raise ValueError if a head or position does not exist, if a query is padding, or if a token is hidden from itself."""
    n = len(tokens.ids)
    for hide in hidden:
        heads = all_heads if hide.heads is None else hide.heads
        if not heads:
            raise ValueError("heads is empty. Use heads=None to hide tokens in all heads.")
        if strange := sorted({*heads} - {*all_heads}):
            raise ValueError(f"Expected heads from L0 H0 to {all_heads[-1]}, got {strange[0]}.")
        for at, most in ((hide.queries, n - tokens.padding), (hide.keys, n)):
            if not at or not all(0 <= p < most for p in at):
                raise ValueError(f"Expected query and key positions from 0 to {most - 1}, got {tuple(at)}.")
        if both := sorted({*hide.queries} & {*hide.keys}):
            names = ", ".join(f"{tokens.tokens[p]!r} at {p}" for p in both)
            raise ValueError(f"A token can't be hidden from itself. Remove {names} from queries or from keys.")


@dataclass(frozen=True, eq=False, kw_only=True)
class LayerRecording:
    """The inputs and the context of one layer's attention in one pass, on the model's device and in its dtype."""

    module: nn.Module  # the layer's attention module
    query: Tensor  # (batch, n_heads, n, d_head)
    key: Tensor  # (batch, n_heads, n, d_head)
    value: Tensor  # (batch, n_heads, n, d_head)
    mask: Tensor | None  # bool or float, broadcasts to (batch, n_heads, n, n); masks hidden tokens too
    terms: tuple[PositionBias | DistanceVectors, ...]  # added to the scaled scores; empty in most families
    scale: float
    context: Tensor  # (batch, n, n_heads, d_head): the input of W_O, after patches
    arguments: Mapping[str, Tensor] = field(default_factory=dict)  # arguments of a hooked module; empty without hooks

    def sentence(self, index: int, n: int) -> "LayerRecording":
        """Return the recording of one sentence of the batch: batch size 1, cut to the sentence's first n tokens."""
        one, batch = slice(index, index + 1), self.query.shape[0]
        query, key, value = (tensor[one, :, :n] for tensor in (self.query, self.key, self.value))
        context = self.context[one, :n]
        if batch > 1:  # a view would keep the complete batch in memory
            query, key, value, context = (tensor.clone() for tensor in (query, key, value, context))
        mask = None if self.mask is None else of_sentence(self.mask, index, n)
        if mask is not None and mask.dtype == torch.bool and mask.all():  # the mask hides nothing
            mask = None
        return replace(
            self, query=query, key=key, value=value, mask=mask, terms=tuple(term.sentence(index, n) for term in self.terms),
            context=context, arguments={k: _argument(k, v, index, n) for k, v in self.arguments.items()},
        )  # fmt: skip

    def kernel_mask(self, rows: slice = slice(None)) -> Tensor | None:
        """Return the mask in the kernel's format: (n_heads or 1, n_rows or 1, n) on the CPU, bool or float32."""
        if self.mask is None:
            return None
        mask = (self.mask[0, :, rows] if self.mask.shape[-2] > 1 else self.mask[0]).cpu()
        if mask.dtype == torch.bool:
            return mask
        lowest = torch.finfo(mask.dtype).min
        # Some families mask a key with the dtype's lowest number. A mask that has only such numbers and zeros becomes bool.
        return mask > lowest if bool(((mask == 0) | (mask <= lowest)).all()) else mask.float()

    def trace(self, heads: int | slice = slice(None), rows: slice = slice(None)) -> AttentionTrace:
        """Recompute every step of attention for some heads and queries, rounded to float32."""
        return rounded(self.attend(heads, rows), torch.float32)

    def weights(self, heads: int | slice = slice(None), rows: slice = slice(None)) -> Tensor:
        """Return only the weights of `trace`. This is faster, because the other steps aren't rounded."""
        return self.attend(heads, rows).weights.float()

    def attend(self, heads: int | slice, rows: slice) -> AttentionTrace:
        """Recompute every step of attention in float64, or in float32 for a very long text."""
        query, key, value = (t[0, heads].cpu() for t in (self.query, self.key, self.value))
        query = query[..., rows, :]
        dtype = precision(query, key)
        terms = [term.term(query.to(dtype), key.to(dtype), self.scale, heads, rows) for term in self.terms]
        mask = self.kernel_mask(rows)
        if mask is not None:
            mask = mask.expand(self.query.shape[1], -1, -1)[heads]
        return attend_precisely(query, key, value, mask, self.scale, terms)


class Recorder:
    """Records one forward pass, layer by layer. A recorder can also replace heads' contexts and hide tokens in the pass.

    patches, hidden: one collection for each sentence of the batch. keep: False records nothing. differentiable: True allows
    gradients with respect to the recorded contexts. until: the layer whose attention ends the pass (None: run all layers).

    The other parameters are for a batch of one sentence, to which changed copies of this sentence are added at later layers
    (`joining.py`). joins: the layer at which each copy is added, ascending. after: True adds a copy after its layer instead of
    before it. narrow: (last layer, positions). After this layer's attention, only these positions are computed.
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
        until: int | None = None,
    ):
        self.layers: list[LayerRecording] = []
        self.n_calls = 0
        self.pending: dict[str, object] = {}  # values that the current layer's hooks have recorded
        self.keep = keep
        self._differentiable = differentiable
        self.joins, self.after, self.until = joins, after, until
        self.first = 0  # index in the batch of the first sentence that runs
        self.read: Tensor | None = None  # this layer's input for the unchanged sentence (1, n, d_model)
        self.last, self.rows = narrow or (None, ())
        self.whole: Tensor | None = None  # the last layer's input (batch, n, d_model), until the attention has read it
        self._patches = [(row, patch) for row, of_row in enumerate(patches) for patch in of_row]
        self._hidden = [(row, hide) for row, of_row in enumerate(hidden) for hide in of_row]

    def hide(self, mask: Tensor | None, shape: tuple[int, int, int], device: torch.device) -> Tensor | None:
        """Return the next layer's mask, which also masks this recorder's hidden tokens: (batch, n_heads or 1, n, n).

        shape: (batch, n_heads, n). If the layer hides no tokens, the mask is returned unchanged.
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
        heads = 1 if all(hide.heads is None for _, hide in here) else n_heads  # 1: all heads share a mask
        edges = [(row, *edge) for row, hide in here for edge in hide.edges(layer, heads)]
        may = torch.ones(batch, heads, n, n, dtype=torch.bool, device=device)
        may[tuple(torch.tensor(edges, device=device).T)] = False
        if mask is None:
            return may
        mask = mask[:, None, None] if mask.dim() == 2 else mask
        return mask.masked_fill(~may, -torch.inf) if mask.is_floating_point() else (mask.bool() & may).to(mask.dtype)

    def receive(self, context: Tensor, inputs: Mapping[str, Any]) -> Tensor:
        """Record a layer's context (batch, n, n_heads, d_head) and `inputs`, its other values. Return the patched context."""
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
        if layer == self.until:
            raise _Reached
        return context


class _Reached(Exception):
    """Ends a pass after the attention of `Recorder.until`."""


_recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


def run(model: nn.Module, inputs: Mapping[str, Tensor], recorder: Recorder | None = None, **options):
    """Run the model with a recorder, and return the model's output, or None if the recorder ended the pass early.

    `current_recorder` returns the recorder during this call only.
    """
    token = _recorder.set(recorder)
    try:
        return model(**inputs, **options)
    except _Reached:
        return None
    finally:
        _recorder.reset(token)


current_recorder = _recorder.get  # returns the recorder of the pass in this thread, or None outside of `run`


def _patched(context: Tensor, patches: Sequence[tuple[int, Patch]]) -> Tensor:
    """Return the context with one layer's patches. patches: pairs (row in the batch, patch)."""
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
    """Compute attention with transformers' `sdpa` function, and pass its inputs and the context to the recorder."""
    # Always pass is_causal: if neither the call nor the module has it, transformers' sdpa runs causally (Splinter).
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
    """Compute attention with the family's eager function, which returns weights. Also mask the recorder's hidden tokens."""
    eager = sys.modules[type(module).__module__].eager_attention_forward
    if (recorder := current_recorder()) is not None:
        attention_mask = recorder.hide(attention_mask, tuple(query.shape[:3]), query.device)
        recorder.n_calls += 1
    return eager(module, query, key, value, added(attention_mask, query.dtype), **options)


def added(mask: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """Convert a mask to the additive mask that eager functions expect: False becomes the dtype's lowest number."""
    if mask is None or mask.dtype != torch.bool:
        return mask
    return torch.zeros_like(mask, dtype=dtype).masked_fill(~mask, torch.finfo(dtype).min)


def _argument(name: str, tensor: Tensor, index: int, n: int) -> Tensor:
    if name in ("attention_mask", "mask", "position_bias", "relative_pos"):
        return of_sentence(tensor, index, n)
    if name == "rel_embeddings":  # (n_distances, d_model)
        return tensor
    if name == "sinusoidal_pos":  # (1, 1, n, d_head)
        return tensor[..., :n, :]
    part = tensor[index : index + 1, :n]  # the layer's input (batch, n, d_model)
    return part if tensor.shape[0] == 1 else part.clone()


AttentionInterface.register(IMPLEMENTATION, recorded_attention)
AttentionMaskInterface.register(IMPLEMENTATION, sdpa_mask)
AttentionInterface.register(EAGER, eager_attention)
AttentionMaskInterface.register(EAGER, eager_mask)
