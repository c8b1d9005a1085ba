"""Recompute every head of an encoder with `selfattn.kernel`, and compare the results with the model's own numbers."""

import math
from contextlib import ExitStack

import pandas as pd
import torch
from torch import Tensor

from selfattn.encoders.encoder import Encoder, Progress, followed, silent
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.projections import ProjectionsUnknown, project


def prove(encoder: Encoder, text: str, progress: Progress = silent) -> pd.DataFrame:
    """Compare the kernel (our attention computation) with the model's own numbers on one text, and return a row for each head.

    Columns: layer, head, and four columns with the largest absolute difference (float32) of a comparison. same_inputs: the
    kernel's weights against the model's eager function on the same query and key. separate_pass: the kernel's weights against a
    second, eager run of the model; NaN if its maps would exceed the setting separate_pass_megabytes. context: the kernel's
    context against the model's fast attention call. projections: query, key and value recomputed from the layer's input against
    the recorded query, key and value; NaN if the family's projections aren't known.
    Raises NotRecomputable if selfattn can't recompute the encoder's weights, TextError for a text that the encoder can't read.
    """
    encoder.check_recomputable()
    with ExitStack() as afterwards:
        # No TF32 in this block: on recent GPUs it would round the factors of float32 products to ten bits.
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
