"""Record the attention of each layer during a forward pass.

In each layer, transformers calls the attention function that this module registers.
Families with attention code of their own have hooks instead (`hooks.py`).
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
    """An attention head, such as L3 H7. Both numbers count from 0."""

    layer: int
    head: int

    def __str__(self) -> str:
        return f"L{self.layer} H{self.head}"

    @classmethod
    def named(cls, name: str) -> "Head":
        """Return the head for a label such as "L5 H10". Raises ValueError."""
        if not (found := re.fullmatch(r"L(\d{1,4}) ?H(\d{1,4})", name.strip(), re.ASCII)):
            raise ValueError(f"Expected a head such as L5H10, got {name[:40]!r}.")
        return cls(int(found[1]), int(found[2]))


@dataclass(frozen=True, eq=False)
class Patch:
    """Replaces a head's context, the input of W_O, at some positions.

    Source: Geiger et al. 2021, "Causal Abstractions of Neural Networks".
    """

    layer: int
    head: int
    positions: tuple[int, ...] | None  # None: every position
    value: Tensor = field(repr=False)  # (d_head,) for all positions, or (len(positions), d_head)


@dataclass(frozen=True, eq=False)
class Hide:
    """Hides keys from queries: the attention scores of these query-key pairs become minus infinity.

    A query can still receive information about a hidden key through other tokens.
    Source: Geva et al. 2023, "Dissecting Recall of Factual Associations in Auto-Regressive Language Models", section 5.
    """

    queries: tuple[int, ...]  # positions that can't attend to the keys
    keys: tuple[int, ...]
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
    """Raise ValueError for patches that overlap or don't fit the text."""
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
    """Raise ValueError for a wrong head or position, or a token hidden from itself."""
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
    """The queries, keys, values and context vectors of one layer's attention, on the model's device."""

    module: nn.Module
    query: Tensor  # (batch, n_heads, n, d_head)
    key: Tensor  # (batch, n_heads, n, d_head)
    value: Tensor  # (batch, n_heads, n, d_head)
    mask: Tensor | None  # bool or float; broadcasts to (batch, n_heads, n, n)
    terms: tuple[PositionBias | DistanceVectors, ...]  # added to the scores
    scale: float
    context: Tensor  # (batch, n, n_heads, d_head): the input of W_O, after patches
    arguments: Mapping[str, Tensor] = field(default_factory=dict)  # of a module with hooks

    def sentence(self, index: int, n: int) -> "LayerRecording":
        """Return one sentence of the batch, cut to its first n tokens."""
        one, batch = slice(index, index + 1), self.query.shape[0]
        query, key, value = (tensor[one, :, :n] for tensor in (self.query, self.key, self.value))
        context = self.context[one, :n]
        if batch > 1:  # a view would keep the whole batch
            query, key, value, context = (tensor.clone() for tensor in (query, key, value, context))
        mask = None if self.mask is None else of_sentence(self.mask, index, n)
        if mask is not None and mask.dtype == torch.bool and mask.all():  # the mask hides nothing
            mask = None
        return replace(
            self, query=query, key=key, value=value, mask=mask, terms=tuple(term.sentence(index, n) for term in self.terms),
            context=context, arguments={k: _argument(k, v, index, n) for k, v in self.arguments.items()},
        )  # fmt: skip

    def kernel_mask(self, rows: slice = slice(None)) -> Tensor | None:
        """Return the mask for selfattn's `attend`, on the CPU: (n_heads or 1, n_rows or 1, n)."""
        if self.mask is None:
            return None
        mask = (self.mask[0, :, rows] if self.mask.shape[-2] > 1 else self.mask[0]).cpu()
        if mask.dtype == torch.bool:
            return mask
        lowest = torch.finfo(mask.dtype).min
        # A mask that contains only 0 and the dtype's lowest number becomes bool.
        return mask > lowest if bool(((mask == 0) | (mask <= lowest)).all()) else mask.float()

    def trace(self, heads: int | slice = slice(None), rows: slice = slice(None)) -> AttentionTrace:
        """Recompute the attention, and round it to float32."""
        return rounded(self.attend(heads, rows), torch.float32)

    def weights(self, heads: int | slice = slice(None), rows: slice = slice(None)) -> Tensor:
        """Recompute the attention weights, and round them to float32. `trace` is slower, because it rounds every step."""
        return self.attend(heads, rows).weights.float()

    def attend(self, heads: int | slice, rows: slice) -> AttentionTrace:
        """Recompute attention in float64, or float32 for a very long text."""
        query, key, value = (t[0, heads].cpu() for t in (self.query, self.key, self.value))
        query = query[..., rows, :]
        dtype = precision(query, key)
        terms = [term.term(query.to(dtype), key.to(dtype), self.scale, heads, rows) for term in self.terms]
        mask = self.kernel_mask(rows)
        if mask is not None:
            mask = mask.expand(self.query.shape[1], -1, -1)[heads]
        return attend_precisely(query, key, value, mask, self.scale, terms)


class Recorder:
    """Records a forward pass, and can replace heads' contexts and hide tokens.

    patches, hidden: one collection for each sentence of the batch
    keep: False records nothing
    differentiable: True allows gradients with respect to the contexts
    until: the layer after whose attention the pass ends

    joins, narrow and after are for copies of one sentence, with hidden tokens or changed heads (`joining.py`).
    joins: for each copy, the layer at which the copy is added to the batch, ascending
    narrow: (index of the last layer, the only positions that are computed after that layer's attention)
    after: True adds each copy after its layer in `joins` has run, not before
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
        self.n_calls = 0  # the layer: some modules have no index
        self.pending: dict[str, object] = {}  # from the current layer's hooks
        self.keep = keep
        self._differentiable = differentiable
        self.joins, self.after, self.until = joins, after, until
        self.first = 0  # the first sentence that runs
        self.read: Tensor | None = None  # layer input of the unchanged sentence: (1, n, d_model)
        self.last, self.rows = narrow or (None, ())
        self.whole: Tensor | None = None  # the last layer's input: (batch, n, d_model)
        self._patches = [(row, patch) for row, of_row in enumerate(patches) for patch in of_row]
        self._hidden = [(row, hide) for row, of_row in enumerate(hidden) for hide in of_row]

    def hide(self, mask: Tensor | None, shape: tuple[int, int, int], device: torch.device) -> Tensor | None:
        """Return the mask of the layer that runs next, with hidden tokens masked out: (batch, n_heads or 1, n, n).

        shape: (batch, n_heads, n)
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
        """Patch and record a layer's context: (batch, n, n_heads, d_head)."""
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
    """Ends a forward pass after the attention of layer number `Recorder.until`."""


_recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


def run(model: nn.Module, inputs: Mapping[str, Tensor], recorder: Recorder | None = None, **options):
    """Run the model with a recorder. Return None for a pass that ended early."""
    token = _recorder.set(recorder)
    try:
        return model(**inputs, **options)
    except _Reached:
        return None
    finally:
        _recorder.reset(token)


current_recorder = _recorder.get  # None outside of `run`


def _patched(context: Tensor, patches: Sequence[tuple[int, Patch]]) -> Tensor:
    """Replace heads' contexts. patches: pairs (row in the batch, patch)."""
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
    """Run transformers' `sdpa` function, and record the attention."""
    # If is_causal weren't passed, transformers' sdpa would use causal attention for Splinter.
    causal = options.pop("is_causal", None)
    causal = getattr(module, "is_causal", False) if causal is None else causal
    if (recorder := current_recorder()) is not None:
        attention_mask = recorder.hide(attention_mask, tuple(query.shape[:3]), query.device)
    context, _ = sdpa_attention_forward(module, query, key, value, attention_mask, is_causal=causal, **options)
    if recorder is None:
        return context, None
    groups = query.shape[1] // key.shape[1]  # several heads may share keys and values
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
    """Run the model family's eager attention function, which returns the attention weights."""
    eager = sys.modules[type(module).__module__].eager_attention_forward
    if (recorder := current_recorder()) is not None:
        attention_mask = recorder.hide(attention_mask, tuple(query.shape[:3]), query.device)
        recorder.n_calls += 1
    return eager(module, query, key, value, added(attention_mask, query.dtype), **options)


def added(mask: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """Convert a bool mask to a float mask, which is added to the scores. Return other masks unchanged."""
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
