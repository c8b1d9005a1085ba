"""One head's steps for one text: from what the layer reads to what the head adds, each with its error.

Nothing is taken from the model after the layer's input: each step is computed from the one before it. Beside it stands
the model's own number: the query, key and value that its attention received, its eager weights, and the context that
its fast attention call returned. Scores and what softmax makes on the way the model hands out to nobody; they are compared
with its own query and key, multiplied in double precision.
Source: Vaswani et al. 2017, "Attention Is All You Need", sections 3.2.1 and 3.2.2.
"""

import math
from dataclasses import dataclass

import pandas as pd
import torch
from torch import Tensor

from selfattn.encoders.capture import LayerRecording
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.pair_terms import DistanceVectors, PositionBias
from selfattn.encoders.projections import Projected, ProjectionsUnknown, project
from selfattn.kernel import AttentionTrace, attend

AS_IT_IS = "read from the model as it is"
RECEIVED = "what the model's attention received"
DOUBLE = "the model's own query and key in double precision"


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a head, for all tokens. Row i belongs to token i."""

    name: str  # "query", "scores" ...
    values: Tensor  # (n, d), (n, n), or (n, 1) for one number a row
    own: Tensor | None  # the model's own, of the same shape; None where it is the model's own already
    own_from: str  # where that comes from, in words

    @property
    def error(self) -> float | None:
        """The largest difference to the model's own; infinite where minus infinity stands in other places."""
        if self.own is None:
            return None
        ours, theirs = self.values.double(), self.own.double()
        finite = ours.isfinite()
        if not torch.equal(finite, theirs.isfinite()):
            return math.inf
        return float((ours - theirs)[finite].abs().max()) if finite.any() else 0.0

    @property
    def size(self) -> float:
        """The largest number of the step by absolute value, to hold the error against."""
        finite = self.values[self.values.isfinite()]
        return float(finite.abs().max()) if finite.numel() else 0.0


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadSteps:
    """All steps of one head in order, and the trace they make up."""

    steps: tuple[Step, ...]
    trace: AttentionTrace
    projected: Projected | None  # None where the projections aren't known
    note: str  # what is particular about this encoder, or why the steps start at query, key and value

    def __getitem__(self, name: str) -> Step:
        return next(step for step in self.steps if step.name == name)

    def __contains__(self, name: str) -> bool:
        return any(step.name == name for step in self.steps)

    @property
    def errors(self) -> pd.DataFrame:
        """One row per step: step, error (the largest difference to the model's own), size (its largest number), compared with."""
        rows = [(step.name, step.error, step.size, step.own_from) for step in self.steps]
        return pd.DataFrame(rows, columns=["step", "error", "size", "compared with"])


def head_steps(encoder: Encoder, encoding: Encoding, layer: int, head: int) -> HeadSteps:
    """All steps of one head. encoding must come from this encoder.

    Where the projections aren't known the steps start at the recorded query, key and value, and `note` says so.
    Raises NotRecomputable for an encoder that is shown only, IndexError for a layer or head that it hasn't.
    """
    recorded = encoding.trace(layer, head)
    recording = encoding.recordings[layer]
    own = {"weights": encoding.own_weights(layer, head), "context": encoding.own_context(layer)[head]}
    try:
        projected = project(encoder, encoding, layer, head)
    except ProjectionsUnknown as unknown:
        names = ("query", "key", "value")
        first, last = [Step(name, getattr(recorded, name), None, RECEIVED) for name in names], []
        projected, trace, note = None, recorded, str(unknown)
    else:
        first, note = _projected_steps(projected, recorded), projected.family_note
        query, key, scale = projected.query, projected.key, recorded.scale
        terms = [term.term(query, key, scale, head, slice(None)) for term in recording.terms]
        trace = attend(query, key, projected.value, recorded.mask, scale, terms)
        output, theirs = projected.output(trace.context), own["context"].double() @ projected.output_weight.double()
        last = [Step("output", output, theirs, "the model's own context times its own W_O, in double precision")]
    steps = *first, *_attention_steps(trace, recording, head, own), *last
    return HeadSteps(steps=steps, trace=trace, projected=projected, note=note)


def _projected_steps(projected: Projected, recorded: AttentionTrace) -> list[Step]:
    steps = [Step("input", projected.layer_input, None, AS_IT_IS)]
    if projected.read_note:
        steps.append(Step("read", projected.read, None, "made by the model's own module"))
    turned, after = ("query", "key") if projected.rotary else (), "compared with the model's own after the turn"
    for name, target in (("query", "query_flat"), ("key", "key_flat"), ("value", "value")):
        own, own_from = (None, after) if name in turned else (getattr(recorded, name), RECEIVED)
        steps.append(Step(name, getattr(projected, target), own, own_from))
    return steps + [
        Step(f"turned {name}", getattr(projected, name), getattr(recorded, name), RECEIVED) for name in turned
    ]


def _attention_steps(trace: AttentionTrace, recording: LayerRecording, head: int, own: dict[str, Tensor]) -> list[Step]:
    """From the scores to the context. own: the model's own weights and context."""
    doubled, terms = _in_double(trace, recording, head), {term.name: term.values for term in trace.terms}
    steps = []
    for name, theirs in doubled.items():
        own_from = DOUBLE if name not in terms else "the model's own vectors in double precision"
        if name == PositionBias.name:
            theirs, own_from = None, f"{AS_IT_IS}: a learned number for each distance"
        steps.append(Step(name, terms[name] if name in terms else getattr(trace, name), theirs, own_from))
    return [
        *steps,
        Step("weights", trace.weights, own["weights"], "the model's own eager attention"),
        Step("context", trace.context, own["context"], "what the model's fast attention call returned"),
    ]


def _in_double(trace: AttentionTrace, recording: LayerRecording, head: int) -> dict[str, Tensor]:
    """The steps from scores to total by other code than the kernel's, from what the model's attention received."""
    query, key = (tensor[0, head].double().cpu() for tensor in (recording.query, recording.key))
    scores = torch.einsum("qd,kd->qk", query, key)
    scaled = scores * trace.scale
    terms = {term.name: _term_in_double(term, query, key, head) for term in recording.terms}
    terms = {name: values if name == PositionBias.name else values * trace.scale for name, values in terms.items()}
    masked = summed = scaled if not terms else torch.stack([scaled, *terms.values()]).sum(0)
    if trace.mask is not None:
        hides = trace.mask.dtype == torch.bool
        masked = torch.where(trace.mask, summed, -math.inf) if hides else summed + trace.mask.double()
    maximum = masked.max(dim=-1, keepdim=True).values
    shifted = torch.where(maximum.isinf(), masked, masked - maximum)
    exponentials = torch.pow(math.e, shifted)
    total = exponentials.sum(-1, keepdim=True)
    return {
        "scores": scores, "scaled": scaled, **terms, "masked": masked, "maximum": maximum,
        "shifted": shifted, "exponentials": exponentials, "total": total,
    }  # fmt: skip


def _term_in_double(term: PositionBias | DistanceVectors, query: Tensor, key: Tensor, head: int) -> Tensor:
    """A term (n, n) row by row; a distance's vectors meet the query or the keys before the scale."""
    if isinstance(term, PositionBias):
        return term.values[0, head].double().cpu()
    vectors, n = term.vectors[head].double().cpu(), len(query)
    # The row of vectors that token i meets, one for each key: of the distances i, i - 1, ... i - n + 1.
    rows = [vectors[i : i + n].flip(0) for i in range(n)]
    if term.name == "content to position":
        return torch.stack([row @ query[i] for i, row in enumerate(rows)])
    return torch.stack([(row * key).sum(-1) for row in rows])
