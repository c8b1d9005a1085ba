"""Recompute the attention of every head of an encoder, and compare it with the model's."""

import math
from contextlib import ExitStack

import pandas as pd
import torch
from torch import Tensor

from selfattn.encoders.encoder import Encoder, Progress, followed, silent
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.projections import ProjectionsUnknown, project


def prove(encoder: Encoder, text: str, progress: Progress = silent) -> pd.DataFrame:
    """Compare `selfattn.kernel` with the model on one text, and return a row for each head.

    Columns: layer, head, and four largest absolute differences (float32):
    same_inputs: the kernel's weights against eager attention on the same query and key.
    separate_pass: the kernel's weights against a second, eager run; NaN if it would need more than separate_pass_megabytes.
    context: the kernel's context vectors against those of the model's fast attention call.
    projections: query, key and value as we compute them from the layer's input, against the model's; NaN if we can't.
    Raises NotRecomputable, TextError.
    """
    encoder.check_recomputable()
    with ExitStack() as afterwards:
        # On recent GPUs, TF32 would round each mantissa to ten bits.
        afterwards.callback(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision())
        torch.set_float32_matmul_precision("highest")
        encoding = encoder.encode(text)
        fits = encoder.separate_pass_fits(len(encoding.tokens))
        separate = encoder.reference_weights(text) if fits else None
        parts = []
        for layer in followed(range(encoder.n_layers), progress):
            trace, heads = encoding.recordings[layer].trace(), range(encoder.n_heads)
            errors = {
                "same_inputs": _largest(trace.weights, encoding.own_weights(layer)),
                "separate_pass": math.nan if separate is None else _largest(trace.weights, separate[layer]),
                "context": _largest(trace.context, encoding.own_context(layer)),
                "projections": [_projection_error(encoder, encoding, layer, head) for head in heads],
            }
            parts.append(pd.DataFrame({"layer": layer, "head": heads, **errors}))
    return pd.concat(parts, ignore_index=True)


def _largest(ours: Tensor, theirs: Tensor) -> list[float]:
    return (ours - theirs).abs().flatten(1).amax(1).tolist()


def _projection_error(encoder: Encoder, encoding: Encoding, layer: int, head: int) -> float:
    try:
        projected = project(encoder, encoding, layer, head)
    except ProjectionsUnknown:
        return float("nan")
    trace = encoding.trace(layer, head)
    errors = [(getattr(projected, p) - getattr(trace, p)).abs().max() for p in ("query", "key", "value")]
    return float(torch.stack(errors).max())
