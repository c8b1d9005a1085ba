"""Compute one head's attention step by step for one text, and compare each step with the model.

Source: Vaswani et al. 2017, "Attention Is All You Need", sections 3.2.1 and 3.2.2.
"""

from dataclasses import dataclass

import pandas as pd
from torch import Tensor

from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.projections import Projected, ProjectionsUnknown, project
from selfattn.kernel import AttentionTrace, attend

AS_IT_IS = "read from the model, not recomputed"
RECEIVED = "the query, key and value that enter the model's attention"


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a head's computation. Row i of the values belongs to token i."""

    name: str  # "query", "weights" ...
    values: Tensor  # (n, d), or (n, n) for the weights
    own: Tensor | None  # the model's numbers, or None
    own_from: str  # where the model's numbers come from

    @property
    def error(self) -> float | None:
        """The largest absolute difference between the step's values and the model's numbers."""
        return None if self.own is None else float((self.values.double() - self.own.double()).abs().max())

    @property
    def size(self) -> float:
        """The largest absolute value in `values`, to compare with `error`."""
        return float(self.values.abs().max())


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadSteps:
    """All steps of one head, and the trace of its attention."""

    steps: tuple[Step, ...]
    trace: AttentionTrace
    projected: Projected | None  # None if the projections aren't known
    note: str  # about the family, or why the first steps are missing

    def __getitem__(self, name: str) -> Step:
        return next(step for step in self.steps if step.name == name)

    def __contains__(self, name: str) -> bool:
        return any(step.name == name for step in self.steps)

    @property
    def errors(self) -> pd.DataFrame:
        """A table with a row for each step, and the columns "step", "error", "size" and "compared with"."""
        rows = [(step.name, step.error, step.size, step.own_from) for step in self.steps]
        return pd.DataFrame(rows, columns=["step", "error", "size", "compared with"])


def head_steps(encoder: Encoder, encoding: Encoding, layer: int, head: int) -> HeadSteps:
    """Compute all steps of one head, with the encoder that made the encoding.

    Raises NotRecomputable, and IndexError for an unknown layer or head.
    """
    recorded = encoding.trace(layer, head)
    context = encoding.own_context(layer)[head]
    try:
        projected = project(encoder, encoding, layer, head)
    except ProjectionsUnknown as unknown:
        names = ("query", "key", "value")
        first, last = [Step(name, getattr(recorded, name), None, RECEIVED) for name in names], []
        projected, trace, note = None, recorded, str(unknown)
    else:
        first, note = _projected_steps(projected, recorded), projected.family_note
        query, key, scale = projected.query, projected.key, recorded.scale
        terms = [term.term(query, key, scale, head, slice(None)) for term in encoding.recordings[layer].terms]
        trace = attend(query, key, projected.value, recorded.mask, scale, terms)
        output, theirs = projected.output(trace.context), context.double() @ projected.output_weight.double()
        last = [Step("output", output, theirs, "the model's context times W_O, in double precision")]
    steps = (
        *first,
        Step("weights", trace.weights, encoding.own_weights(layer, head), "the weights of the model's eager attention"),
        Step("context", trace.context, context, "the context recorded in the model's forward pass"),
        *last,
    )
    return HeadSteps(steps=steps, trace=trace, projected=projected, note=note)


def _projected_steps(projected: Projected, recorded: AttentionTrace) -> list[Step]:
    steps = [Step("input", projected.layer_input, None, AS_IT_IS)]
    if projected.read_note:
        steps.append(Step("read", projected.read, None, "computed by the model's own normalisation or bottleneck"))
    turned, after = ("query", "key") if projected.rotary else (), "compared after the rotation"
    for name, target in (("query", "query_flat"), ("key", "key_flat"), ("value", "value")):
        own, own_from = (None, after) if name in turned else (getattr(recorded, name), RECEIVED)
        steps.append(Step(name, getattr(projected, target), own, own_from))
    return steps + [
        Step(f"turned {name}", getattr(projected, name), getattr(recorded, name), RECEIVED) for name in turned
    ]
