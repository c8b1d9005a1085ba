"""The proof: every head of an encoder recomputed by the kernel and compared with the model's own numbers.

`prove` runs it on one encoder and one text; `support_table` on a tiny random encoder of every family, with the versions
that are installed.
"""

import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import torch
from torch import Tensor

from selfattn.encoders.encoder import Encoder, Progress, silent
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.errors import LoadError
from selfattn.encoders.families import FAMILIES, SENTENCES, Family, save_tiny
from selfattn.encoders.loading import load_source
from selfattn.encoders.projections import ProjectionsUnknown, project
from selfattn.encoders.sources import Source


def prove(encoder: Encoder, text: str, progress: Progress = silent, pair: str | None = None) -> pd.DataFrame:
    """The kernel against the model's own numbers on one text (with `pair`, of two segments): a row for each head.

    layer, head; `same_inputs`: the largest difference between the kernel's weights and those of the model's own eager
    function on the recorded query and key; `separate_pass`: to the weights of a whole separate eager pass (NaN for a
    text so long that its maps exceed the setting separate_pass_megabytes); `context`: between the kernel's context and
    what the fast attention call returned; `projections`: between query, key and value recomputed from the layer's input and the
    recorded ones (NaN where the family's projections aren't known). All absolute, in float32.
    Raises NotRecomputable for an encoder that is shown only, TextError for a text it can't read.
    """
    encoder.check_recomputable()
    with _full_precision():
        encoding = encoder.encode(text, pair)
        fits = encoder.separate_pass_fits(len(encoding.tokens))
        separate = encoder.reference_weights(text, pair) if fits else None
        parts = []
        for layer in range(encoder.n_layers):
            trace, heads = encoding.recordings[layer].trace(), range(encoder.n_heads)
            errors = {
                "same_inputs": _largest(trace.weights, encoding.own_weights(layer)),
                "separate_pass": math.nan if separate is None else _largest(trace.weights, separate[layer]),
                "context": _largest(trace.context, encoding.own_context(layer)),
                "projections": [_projection_error(encoder, encoding, layer, head) for head in heads],
            }
            parts.append(pd.DataFrame({"layer": layer, "head": heads, **errors}))
            progress(layer + 1, encoder.n_layers)
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


@contextmanager
def _full_precision() -> Iterator[None]:
    """No TF32 while the proof runs: on recent GPUs it would shorten float32's products to ten bits."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def support_table(progress: Progress = silent) -> pd.DataFrame:
    """What is recomputed, shown or refused with the installed versions: a row for each family, measured, not listed.

    family, support ("recomputed", "shown", "refused"), from ("layer input", "query, key, value" or ""), heads (how many
    were compared), largest_error (over all heads and three sentences, against a separate eager pass; NaN where nothing is
    recomputed), why (the reason where it isn't recomputed, or a note).
    """
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for done, family in enumerate(FAMILIES.values(), start=1):
            rows.append(_support(family, Path(folder) / family.name))
            progress(done, len(FAMILIES))
    return pd.DataFrame(rows)


def _support(family: Family, folder: Path) -> dict[str, object]:
    save_tiny(family, folder)
    row = {"family": family.name, "support": "refused", "from": "", "heads": 0, "largest_error": float("nan")}
    try:
        encoder = load_source(Source(name=family.name, folder=folder, kind="folder"))
    except LoadError as error:
        return {**row, "why": str(error)}
    if not encoder.recomputable:
        return {**row, "support": "shown", "why": encoder.reason}
    proof = pd.concat([prove(encoder, text) for text in SENTENCES])
    return row | {
        "support": "recomputed",
        "from": "query, key, value" if proof["projections"].isna().any() else "layer input",
        "heads": len(encoder.all_heads),
        "largest_error": float(proof[["same_inputs", "separate_pass"]].max().max()),
        "why": encoder.note,
    }
