"""What a layer's attention really received: one attention function that runs the normal fast one and keeps its inputs.

transformers calls a registered function in place of its own in every layer. Ours calls `sdpa` unchanged and, where the
caller passed `recorder=`, keeps that layer's query, key, value, mask and scale (after biases and rotary positions).
One recorder serves one forward pass: no globals, so concurrent calls can't disturb one another. The layer is the
recorder's call count, because several families give their attention modules no index.

Every intervention is made here too, as a `Patch`: a head removed, or its output taken from another sentence.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import repeat_kv, sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from selfattn.kernel import AttentionTrace, attend_precisely

IMPLEMENTATION = "selfattn"


class Head(NamedTuple):
    """One attention head; both numbers count from 0. Its name in labels and files: "L3 H7"."""

    layer: int
    head: int

    def __str__(self) -> str:
        return f"L{self.layer} H{self.head}"


@dataclass(frozen=True, eq=False)
class Patch:
    """A head's context, the vector that enters W_O, replaced at some positions of one text while the model runs.

    Numbers and shape are checked where it meets a text (`Encoder.encode`).
    Source: Geiger et al. 2021, "Causal Abstractions of Neural Networks" (interchange interventions).
    """

    layer: int
    head: int
    positions: tuple[int, ...] | None  # None: every position
    value: Tensor = field(repr=False)  # (d_head,), the same at each position, or (len(positions), d_head)


@dataclass(frozen=True, eq=False, kw_only=True)
class LayerRecording:
    """What one layer's attention received and returned, on the model's device and in its dtype."""

    module: nn.Module  # the layer's own attention module
    query: Tensor  # (batch, n_heads, n, d_head)
    key: Tensor  # (batch, n_heads, n, d_head)
    value: Tensor  # (batch, n_heads, n, d_head)
    mask: Tensor | None  # bool or float, broadcast to (batch, n_heads, n, n); the model's own, by reference
    position_bias: Tensor | None  # (1, n_heads, n, n): added to the scaled scores (T5), by reference
    scale: float
    context: Tensor  # (batch, n, n_heads, d_head): what the sdpa call returned, patched where it was patched

    def sentence(self, index: int, n: int) -> "LayerRecording":
        """The recording of one sentence of the batch, cut back to its first n tokens; batch becomes 1."""
        one = slice(index, index + 1)

        def own(tensor: Tensor | None) -> Tensor | None:
            if tensor is None:
                return None
            row = tensor if tensor.shape[0] == 1 else tensor[one]
            row = row[..., : min(n, row.shape[-2]), :n]
            hides_nothing = row.dtype == torch.bool and bool(row.all())
            return None if hides_nothing else row

        query, key, value = (tensor[one, :, :n] for tensor in (self.query, self.key, self.value))
        context = self.context[one, :n]
        if self.query.shape[0] > 1:  # a view would keep the whole batch alive
            query, key, value, context = (tensor.clone() for tensor in (query, key, value, context))
        mask, bias = own(self.mask), own(self.position_bias)
        return replace(self, query=query, key=key, value=value, mask=mask, position_bias=bias, context=context)

    def additive_mask(self, rows: slice = slice(None)) -> Tensor | None:
        """Position bias and mask as the one mask that the kernel takes, for all or some of the queries.

        (n_heads or 1, n_rows or 1, n), bool or CPU float32.
        """
        mask = _rows(self.mask, rows)
        if mask is not None and mask.dtype != torch.bool:
            # Families that add the dtype's lowest number mean "may not attend".
            mask = mask > torch.finfo(mask.dtype).min if _only_hides(mask) else mask.float()
        bias = _rows(self.position_bias, rows)
        if bias is None:
            return mask
        bias = bias.float()
        if mask is None:
            return bias
        return bias.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else bias + mask

    def trace(self, heads: int | slice = slice(None), rows: slice = slice(None)) -> AttentionTrace:
        """The kernel's steps from what was recorded, for one head or several, for all or some of the queries; float32."""
        return self.attend(heads, rows).float()

    def weights(self, heads: int | slice = slice(None), rows: slice = slice(None)) -> Tensor:
        """The weights of `trace` alone, which spares rounding every other step to float32."""
        return self.attend(heads, rows).weights.float()

    def attend(self, heads: int | slice, rows: slice) -> AttentionTrace:
        """The kernel's computation as precise as it is made: float64 but for a very long text."""
        query, key, value = (t[0, heads].cpu() for t in (self.query, self.key, self.value))
        mask = self.additive_mask(rows)
        if mask is not None:
            mask = mask.expand(self.query.shape[1], -1, -1)[heads]
        return attend_precisely(query[..., rows, :], key, value, mask, self.scale)


class Recorder:
    """Collects one forward pass, layer by layer, and replaces heads' contexts on the way.

    patches: one collection for each sentence of the batch. keep=False records nothing (enough for a knock-out).
    differentiable=True: what is computed can be differentiated by the recorded contexts, with gradients switched on.
    """

    def __init__(self, patches: Sequence[Collection[Patch]] = (), keep: bool = True, differentiable: bool = False):
        self.layers: list[LayerRecording] = []
        self.n_calls = 0
        self._keep = keep
        self._differentiable = differentiable
        self._patches: dict[int, list[tuple[int, Patch]]] = {}  # layer -> (sentence of the batch, patch)
        for row, own in enumerate(patches):
            for patch in own:
                self._patches.setdefault(patch.layer, []).append((row, patch))

    def receive(self, module, query, key, value, mask, context, options) -> Tensor:
        """Take one layer's inputs and its context (batch, n, n_heads, d_head); return the context to go on with."""
        if self.n_calls in self._patches:
            context = _patched(context, self._patches[self.n_calls])
        self.n_calls += 1
        if self._differentiable:
            context.requires_grad_()
            query, key, value = query.detach(), key.detach(), value.detach()
        if self._keep:
            scale = options.get("scaling")
            scale = query.shape[-1] ** -0.5 if scale is None else float(scale)
            bias = options.get("position_bias")
            self.layers.append(
                LayerRecording(
                    module=module, query=query, key=key, value=value, mask=mask, position_bias=bias, scale=scale,
                    context=context
                )
            )  # fmt: skip
        return context


def _patched(context: Tensor, patches: Sequence[tuple[int, Patch]]) -> Tensor:
    """The context with a layer's patches (sentence of the batch, patch), written together: one by one takes longer."""
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


def recorded_attention(module, query, key, value, attention_mask, recorder: Recorder | None = None, **options):
    """The attention function given to transformers: `sdpa`; the recorder receives what went in and came out."""
    # Always said: where neither the call nor the module says it, transformers' sdpa would run causally (Splinter).
    causal = options.pop("is_causal", None)
    causal = getattr(module, "is_causal", False) if causal is None else causal
    context, _ = sdpa_attention_forward(module, query, key, value, attention_mask, is_causal=causal, **options)
    if recorder is None:
        return context, None
    groups = query.shape[1] // key.shape[1]  # grouped-query attention shares keys and values between heads
    key, value = repeat_kv(key, groups), repeat_kv(value, groups)
    return recorder.receive(module, query, key, value, attention_mask, context, options), None


def _rows(mask: Tensor | None, rows: slice) -> Tensor | None:
    """One sentence's mask, cut to some queries before anything is computed on it: (n_heads or 1, n_rows or 1, n)."""
    if mask is None:
        return None
    return (mask[0, :, rows] if mask.shape[-2] > 1 else mask[0]).cpu()


def _only_hides(mask: Tensor) -> bool:
    lowest = torch.finfo(mask.dtype).min
    return bool(((mask == 0) | (mask <= lowest)).all())


AttentionInterface.register(IMPLEMENTATION, recorded_attention)
AttentionMaskInterface.register(IMPLEMENTATION, sdpa_mask)
