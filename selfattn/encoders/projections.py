"""Find one head's learned matrices, and compute its query, key and value.

Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.2.2; rotary positions: Su et al. 2021, "RoFormer".
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from selfattn.encoders.capture import LayerRecording
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.errors import NotRecomputable
from selfattn.encoders.hooks import is_linear, output_layer, separate

FUSED = "Wqkv"  # ModernBERT
NORM_BEFORE = ("ln", "attn_norm", "input_layernorm", "layer_norm", "LayerNorm", "self_attn_layer_norm")

# Rounding may change a recomputed tensor by up to these fractions of its largest absolute number.
ROUNDING = {"float32": 1e-4, "float16": 2e-2, "bfloat16": 1e-1}


class ProjectionsUnknown(NotRecomputable):
    """A head's matrices can't be found, or don't reproduce the recorded query, key or value."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Projected:
    """One head's matrices, and its query, key and value."""

    query_weight: Tensor  # (d_in, d_head)
    query_bias: Tensor | None  # (d_head,)
    key_weight: Tensor  # (d_in, d_head)
    key_bias: Tensor | None  # (d_head,)
    value_weight: Tensor  # (d_value_in, d_head); d_value_in is d_in except in MobileBERT
    value_bias: Tensor | None  # (d_head,)
    output_weight: Tensor  # (d_head, d_model); narrower in MobileBERT
    output_bias: Tensor | None  # (d_model,): added once for all heads
    family_note: str  # how the family differs from BERT
    layer_input: Tensor  # (n, d_model): the layer's input
    read: Tensor  # (n, d_in): the input of W_Q and W_K
    value_read: Tensor  # (n, d_value_in): the input of W_V
    read_note: str  # steps from layer_input to read
    query_flat: Tensor  # (n, d_head) before rotary positions
    key_flat: Tensor  # (n, d_head) before rotary positions
    query: Tensor  # (n, d_head) after rotary positions
    key: Tensor  # (n, d_head) after rotary positions
    value: Tensor  # (n, d_head)
    rotary: bool

    def output(self, context: Tensor) -> Tensor:
        """Compute the head's output from its context, without the bias: (n, d_head) -> (n, d_model)."""
        return context @ self.output_weight


def project(encoder: Encoder, encoding: Encoding, layer: int, head: int) -> Projected:
    """Compute one head's query, key and value from the layer's input, in float32 on the CPU.

    Raises ProjectionsUnknown, NotRecomputable and IndexError.
    """
    encoding.trace(layer, head, slice(1))  # raises for a wrong layer or head
    recording = encoding.recordings[layer]
    module = recording.module
    around = _surroundings(encoder.model, module)
    linears = _linears(encoder, module, around)
    rotary = _angles(encoder.model, around, encoding.states[layer])
    shared = sum(other.module is module for other in encoding.recordings)
    learned = _slices(recording, linears, head, rotary is not None, shared)
    layer_input = encoding.states[layer]
    received = next(iter(recording.arguments.values()), None)  # a hooked module's input
    plain = received is not None and torch.equal(received[0].float().cpu(), layer_input)
    read, value_read, read_note = (layer_input, layer_input, "") if plain else _read(around, layer_input)
    query_flat, key_flat, value = (
        of @ learned[f"{name}_weight"] + (0 if (bias := learned[f"{name}_bias"]) is None else bias)
        for name, of in (("query", read), ("key", read), ("value", value_read))
    )
    query, key = (flat if rotary is None else rotate(flat, *rotary) for flat in (query_flat, key_flat))
    _check(encoder, recording, head, (query, key, value))
    return Projected(
        **learned, layer_input=layer_input, read=read, value_read=value_read, read_note=read_note,
        query_flat=query_flat, key_flat=key_flat, query=query, key=key, value=value, rotary=rotary is not None
    )  # fmt: skip


def rotate(flat: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Rotate each row of `flat` (n, d_head). Columns i and i + d_head / 2 rotate as a pair."""
    first, second = flat.chunk(2, dim=-1)
    return flat * cosine + torch.cat((-second, first), dim=-1) * sine


def output_weight(encoder: Encoder, module: nn.Module) -> Tensor:
    """Return a module's W_O, in float32 on the CPU: (n_heads * d_head, d_model).

    Raises ProjectionsUnknown.
    """
    output = output_layer(module, _surroundings(encoder.model, module)[0])
    if output is None:
        raise ProjectionsUnknown(
            f"selfattn can't find the output matrix of {encoder.family} ({type(module).__name__})."
        )
    return output.weight.float().cpu().T


def _surroundings(model: nn.Module, module: nn.Module) -> list[nn.Module]:
    """Return the modules that contain `module`, the nearest first."""
    path = next(name for name, each in model.named_modules() if each is module).split(".")
    return [model.get_submodule(".".join(path[:depth])) for depth in range(len(path) - 1, -1, -1)]


def _linears(
    encoder: Encoder, module: nn.Module, around: Sequence[nn.Module]
) -> tuple[Sequence[tuple[Tensor, Tensor | None]], nn.Linear]:
    """Return (weight, bias) of W_Q, W_K and W_V, with weights (heads * d_head, d_in), and the module W_O."""
    names, output = separate(module), output_layer(module, around[0])
    if output is None or (names is None and not is_linear(module, FUSED)):
        raise ProjectionsUnknown(
            f"selfattn can't find the query, key, value and output matrices of {encoder.family} ({type(module).__name__}). "
            "So the head is recomputed from the recorded query, key and value, not from the layer's input."
        )
    if names is not None:
        return [(getattr(module, name).weight, getattr(module, name).bias) for name in names], output
    fused = module.Wqkv
    biases = (None, None, None) if fused.bias is None else fused.bias.chunk(3)
    return list(zip(fused.weight.chunk(3), biases)), output


def _slices(recording: LayerRecording, linears, head: int, rotary: bool, shared: int) -> dict[str, Any]:
    """Return one head's slices of W_Q, W_K, W_V and W_O, and a note on how the family differs from BERT."""
    three, output = linears
    n_heads, d_head = recording.query.shape[1], recording.query.shape[-1]
    parts: dict[str, Any] = {}
    for name, (weight, bias) in zip(("query", "key", "value"), three):
        # Several query heads may share one key head and one value head.
        index = head * (weight.shape[0] // d_head) // n_heads
        rows = slice(index * d_head, (index + 1) * d_head)
        parts[f"{name}_weight"] = weight[rows].float().cpu().T
        parts[f"{name}_bias"] = None if bias is None else bias[rows].float().cpu()
    parts["output_weight"] = output.weight[:, head * d_head : (head + 1) * d_head].float().cpu().T
    parts["output_bias"] = None if output.bias is None else output.bias.float().cpu()
    notes = [f"{shared} layers use the same matrices."] if shared > 1 else []
    if parts["query_bias"] is None:
        notes.append("The projections have no bias.")
    if recording.scale == 1:
        notes.append("The scores are not divided by sqrt(d_head).")
    for term in recording.terms:
        notes.append(f"The distance between query and key token adds a term to the scaled scores: {term.name}.")
    if rotary:
        notes.append("Query and key are rotated by their position (rotary embedding) before the dot product.")
    return parts | {"family_note": " ".join(notes)}


def _read(around: Sequence[nn.Module], layer_input: Tensor) -> tuple[Tensor, Tensor, str]:
    """Return the input of W_Q and W_K, the input of W_V, and a note on how these were computed."""
    bottleneck = getattr(around[1], "bottleneck", None) if len(around) > 1 else None
    if bottleneck is not None:
        read, _, value_read, _ = apply(bottleneck, layer_input)
        if read is layer_input:
            return layer_input, layer_input, ""
        width = f"Query and key use the layer's input, reduced to {read.shape[-1]} numbers (a bottleneck)"
        also = value_read.shape == read.shape
        return read, value_read, f"{width}. Value does too." if also else f"{width}. Value uses the complete input."
    norm = next((getattr(around[0], name) for name in NORM_BEFORE if hasattr(around[0], name)), None)
    if norm is None or isinstance(norm, nn.Identity):
        return layer_input, layer_input, ""
    kind = "LayerNorm" if isinstance(norm, nn.LayerNorm) else "RMSNorm"
    read = apply(norm, layer_input)
    return read, read, f"The layer's input is normalised before the projections ({kind})."


def apply(module: nn.Module, layer_input: Tensor):
    """Run a float32 copy of the module on the CPU. The module itself stays unchanged for other threads."""
    with torch.no_grad():
        return copy.deepcopy(module).float().cpu()(layer_input)


def _angles(model: nn.Module, around: Sequence[nn.Module], like: Tensor):
    """Return rotary cosines and sines, (n, d_head) each; None for a model without `rotary_emb`."""
    rotary = getattr(model, "rotary_emb", None)
    if rotary is None:
        return None
    like = like[None].to(next(model.parameters()).device)
    positions = torch.arange(like.shape[1], device=like.device)[None]
    kind = getattr(around[0], "attention_type", None)  # ModernBERT: local and global layers rotate at different speeds
    cosine, sine = rotary(like, positions) if kind is None else rotary(like, positions, kind)
    return cosine[0].float().cpu(), sine[0].float().cpu()


def _check(encoder: Encoder, recording: LayerRecording, head: int, computed: Sequence[Tensor]) -> None:
    for name, ours in zip(("query", "key", "value"), computed):
        theirs = getattr(recording, name)[0, head].float().cpu()
        allowed = ROUNDING[encoder.dtype] * max(float(theirs.abs().max()), 1e-3)
        error = float((ours.float() - theirs).abs().max())
        if not error <= allowed:
            raise ProjectionsUnknown(
                f"The matrices of {encoder.family} don't reproduce the recorded {name} (difference {error:.1e}). "
                "So the head is recomputed from the recorded query, key and value, not from the layer's input."
            )
