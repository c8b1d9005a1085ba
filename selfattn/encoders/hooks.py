"""Record attention with hooks, in model families that have their own attention code.

Source of the terms that DeBERTa adds to the scores: He et al. 2021, "DeBERTa: Decoding-enhanced BERT with Disentangled
Attention", equation 4.
"""

import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial

import torch
from torch import Tensor, nn

from selfattn.encoders.capture import added, current_recorder
from selfattn.encoders.pair_terms import DistanceVectors, PositionBias

# Attribute names of W_Q, W_K and W_V in attention modules. OUTPUT has those of W_O.
SEPARATE = (
    ("query", "key", "value"),  # BERT, RoBERTa, XLM-R, CamemBERT, ELECTRA, ALBERT, MobileBERT, RoFormer
    ("q_lin", "k_lin", "v_lin"),  # DistilBERT, XLM
    ("q_proj", "k_proj", "v_proj"),  # NomicBERT, GTE, EuroBERT
    ("query_proj", "key_proj", "value_proj"),  # DeBERTa-v2
    ("q", "k", "v"),  # T5, MPNet
)
OUTPUT = ("dense", "out_lin", "o_proj", "o", "Wo")
MASKS = ("attention_mask", "mask")
FUSED = "in_proj"  # DeBERTa: W_Q, W_K and W_V of each head
# DeBERTa's projections of distances, and the terms that they add to the scores.
POSITIONS = {
    "pos_key_proj": "content to position",
    "pos_proj": "content to position",
    "pos_query_proj": "position to content",
    "pos_q_proj": "position to content",
}


def install(model: nn.Module, n_heads: int) -> None:
    """Put hooks on every attention module. Call this once for each model."""
    for module, output in _attention_modules(model):
        module.register_forward_pre_hook(partial(_open, n_heads), with_kwargs=True)
        names = separate(module) or (FUSED,)
        for name in (*names, *(name for name in POSITIONS if is_linear(module, name))):
            getattr(module, name).register_forward_hook(partial(_keep, name))
        output.register_forward_pre_hook(partial(_close, n_heads))


def separate(module: nn.Module) -> tuple[str, str, str] | None:
    """Return the names of a module's W_Q, W_K and W_V, or None."""
    return next((names for names in SEPARATE if all(is_linear(module, name) for name in names)), None)


def output_layer(module: nn.Module, around: nn.Module) -> nn.Linear | None:
    """Return an attention module's layer W_O, or None. W_O is a child of `module`, or it is `around.output.dense`."""
    inside = next((getattr(module, name) for name in OUTPUT if is_linear(module, name)), None)
    if inside is None and is_linear(getattr(around, "output", None), "dense"):
        return around.output.dense
    return inside


def is_linear(owner: object, name: str) -> bool:
    return isinstance(getattr(owner, name, None), nn.Linear)


def _attention_modules(model: nn.Module) -> Iterator[tuple[nn.Module, nn.Linear]]:
    for name, module in model.named_modules():
        if name and (separate(module) or is_linear(module, FUSED)):
            output = output_layer(module, model.get_submodule(name.rpartition(".")[0]))
            if output is not None:
                yield module, output


def _open(n_heads: int, module: nn.Module, args: Sequence, kwargs: Mapping) -> tuple[Sequence, Mapping] | None:
    """Mask the tokens that must be hidden, and record the module's arguments."""
    if (recorder := current_recorder()) is None:
        return None
    names = _parameters(type(module))
    given = {**dict(zip(names, args)), **kwargs}
    name = next((name for name in MASKS if name in names), "")
    mask, reads = given.get(name), given[names[0]]  # the layer's input (batch, n, d_model)
    hidden = recorder.hide(mask, (len(reads), n_heads, reads.shape[1]), reads.device)
    if mask is None:  # DeBERTa and XLM always have a mask
        hidden = added(hidden, reads.dtype)
    elif mask.dim() == 2 and hidden.dim() == 4 and hidden.shape[1] == 1:  # XLM's mask has no heads
        hidden = hidden[:, 0]
    given[name] = hidden
    tensors = {name: value for name, value in given.items() if isinstance(value, Tensor)}
    recorder.pending = {"module": module, "arguments": tensors}
    if hidden is mask:
        return None
    return tuple(given.pop(name) for name in names[: len(args)]), given


@cache
def _parameters(kind: type[nn.Module]) -> tuple[str, ...]:
    return tuple(inspect.signature(kind.forward).parameters)[1:]  # without self


def _keep(name: str, layer: nn.Linear, args: Sequence, output: Tensor) -> None:
    """Record a projection's output. DeBERTa-v3 runs W_Q and W_K twice: for tokens and for distances."""
    if (recorder := current_recorder()) is not None:
        # DeBERTa later divides the output of pos_q_proj in place, so keep a copy.
        recorder.pending.setdefault(name, []).append(output.clone() if name in POSITIONS else output)


def _close(n_heads: int, layer: nn.Linear, args: Sequence) -> tuple | None:
    """Record and patch the input of W_O."""
    if (recorder := current_recorder()) is None:
        return None
    pending, recorder.pending = recorder.pending, {}
    inputs = _inputs(pending, n_heads) if recorder.keep else {}
    context = recorder.receive(args[0].unflatten(-1, (n_heads, -1)), inputs)
    return (context.flatten(-2), *args[1:])


def _inputs(pending: Mapping, n_heads: int) -> dict[str, object]:
    """Return the fields of LayerRecording, except the context."""
    module, arguments = pending["module"], pending["arguments"]
    query, key, value = _query_key_value(pending, n_heads)
    kinds = getattr(module, "pos_att_type", ())  # DeBERTa: "c2p", "p2c"
    return {
        "module": module,
        "query": query,
        "key": key,
        "value": value,
        "mask": _mask(next((arguments[name] for name in MASKS if name in arguments), None)),
        "terms": tuple(_terms(pending, n_heads, kinds)),
        "scale": 1 / math.sqrt(query.shape[-1] * (1 + len(kinds))),
        "arguments": arguments,
    }


def _query_key_value(pending: Mapping, n_heads: int) -> Sequence[Tensor]:
    """Return query, key and value: (batch, n_heads, n, d_head) each."""
    module, rotary = pending["module"], pending["arguments"].get("sinusoidal_pos")
    if FUSED in pending:
        query, key, value = _split_heads(pending[FUSED][0], n_heads).chunk(3, dim=-1)
        query_bias, value_bias = (_split_heads(bias[None, None], n_heads) for bias in (module.q_bias, module.v_bias))
        return query + query_bias, key, value + value_bias
    query, key, value = (_split_heads(pending[name][0], n_heads) for name in separate(module))
    if rotary is None:
        return query, key, value
    if module.rotary_value:
        return module.apply_rotary_position_embeddings(rotary, query, key, value)
    return *module.apply_rotary_position_embeddings(rotary, query, key), value


def _split_heads(projected: Tensor, n_heads: int) -> Tensor:
    """(batch, n, n_heads * d) -> (batch, n_heads, n, d)."""
    return projected.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def _mask(mask: Tensor | None) -> Tensor | None:
    """Convert a mask to (batch, 1 or n_heads, 1 or n, n)."""
    if mask is None:
        return None
    mask = mask if mask.dim() == 4 else mask.reshape(len(mask), 1, -1, mask.shape[-1])
    return mask if mask.is_floating_point() else mask.bool()


def _terms(pending: Mapping, n_heads: int, kinds: Sequence[str]) -> Iterator[PositionBias | DistanceVectors]:
    arguments = pending["arguments"]
    if "position_bias" in arguments:
        yield PositionBias(arguments["position_bias"])
    if "relative_pos" not in arguments:
        return
    projected = {POSITIONS[name]: outputs[-1] for name, outputs in pending.items() if name in POSITIONS}
    if not projected:  # the second outputs of W_K and W_Q
        query, key, _ = (pending[name][-1] for name in separate(pending["module"]))
        shared = {"c2p": ("content to position", key), "p2c": ("position to content", query)}
        projected = dict(shared[kind] for kind in kinds)
    for name, positions in projected.items():
        yield DistanceVectors(name, _by_distance(_split_heads(positions, n_heads)[0], arguments["relative_pos"]))


def _by_distance(positions: Tensor, relative: Tensor) -> Tensor:
    """Return a vector for each distance from 1 - n to n - 1: (n_heads, 2 n - 1, d_head).

    positions: a vector for each bucket of distances, (n_heads, 2 * span, d_head)
    relative: the bucket of each query-key pair, (..., n, n), from -span to span
    """
    relative, span = relative.reshape(relative.shape[-2:]), positions.shape[1] // 2
    buckets = torch.cat([relative[0, 1:].flip(0), relative[:, 0]])  # key after query, then query after key
    return positions[:, (buckets.long() + span).clamp(0, 2 * span - 1)]
