"""One head's steps for one text: from what the layer reads to what the head adds, each with its error.

Nothing is taken from the model after the layer's input: each step is computed from the one before it. Beside it stands
the model's own number: the query, key and value that its attention received, its eager weights, and the context that
its fast attention call returned. Scores and what softmax makes on the way the model hands out to nobody; they are compared
with its own query and key, multiplied in double precision.
Source: Vaswani et al. 2017, "Attention Is All You Need", sections 3.2.1 and 3.2.2.
"""

import ast
import builtins
import inspect
import math
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from selfattn.encoders import projections
from selfattn.encoders.capture import LayerRecording
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.pair_terms import DistanceVectors, PositionBias, content_to_position, position_to_content
from selfattn.encoders.projections import Projected, ProjectionsUnknown, project
from selfattn.kernel import AttentionTrace, add_mask, attend
from selfattn.kernel_inputs import Term

RECEIVED = "what the model's attention received"
DOUBLE = "the model's own query and key in double precision"


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a head, for all tokens. Row i belongs to token i."""

    name: str  # "query", "scores" ...
    formula: str  # in LaTeX
    values: Tensor  # (n, d), (n, n), or (n, 1) for one number a row
    shape: str  # the shape in words
    own: Tensor | None  # the model's own, of the same shape; None where it is the model's own already
    own_from: str  # where that comes from, in words
    function: Callable  # what does it
    target: str = ""  # the name that its line assigns to, as in `snippet`; "": all of it

    @property
    def code(self) -> str:
        """A function that does it and could run, made of the very lines of the source."""
        return snippet(self.name, self.function, self.target)

    @property
    def where(self) -> str:
        """The function that holds these lines."""
        return f"{self.function.__module__}.{self.function.__qualname__}"

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
    note: str  # what is particular about this encoder, or why the steps start at query, key and value

    def __getitem__(self, name: str) -> Step:
        return next(step for step in self.steps if step.name == name)

    def __contains__(self, name: str) -> bool:
        return any(step.name == name for step in self.steps)


def head_steps(encoder: Encoder, encoding: Encoding, layer: int, head: int) -> HeadSteps:
    """All steps of one head. encoding must come from this encoder.

    Where the projections aren't known the steps start at the recorded query, key and value, and `note` says so.
    Raises NotRecomputable for an encoder that is shown only, IndexError for a layer or head that it hasn't.
    """
    recorded = encoding.trace(layer, head)
    recording = encoding.recordings[layer]
    try:
        projected = project(encoder, encoding, layer, head)
    except ProjectionsUnknown as unknown:
        first, trace, projected, note = _recorded_steps(recorded), recorded, None, str(unknown)
    else:
        first, note = _projected_steps(projected, recorded), projected.family_note
        query, key, scale = projected.query, projected.key, recorded.scale
        terms = [term.term(query, key, scale, head, slice(None)) for term in recording.terms]
        trace = attend(query, key, projected.value, recorded.mask, scale, terms)
    own = {"weights": encoding.own_weights(layer, head), "context": encoding.own_context(layer)[head]}
    last = [] if projected is None else [_output_step(projected, trace, own["context"])]
    steps = *first, *_attention_steps(trace, recording, head, own), *last
    return HeadSteps(steps=steps, trace=trace, note=note)


def dot_product(trace: AttentionTrace, query_pos: int, key_pos: int) -> Tensor:
    """The terms of one score, (d_head,): query times key, dimension by dimension; their sum is the score."""
    return trace.query[query_pos] * trace.key[key_pos]


@cache  # reading a source takes longer than computing the head
def snippet(name: str, function: Callable, target: str = "") -> str:
    """One step as a function that runs on its own, from the very source that made its numbers.

    target: the name that the line to show assigns to, or "return"; "": all that `function` does.
    Raises LookupError for a name that the function doesn't assign to: then the page is out of step with the code.
    """
    text = textwrap.dedent(inspect.getsource(function))
    whole = ast.parse(text).body[0]
    body = [_assigning(whole, target)] if target else whole.body[ast.get_docstring(whole) is not None :]
    lines = [textwrap.dedent(ast.get_source_segment(text, statement, padded=True)) for statement in body]
    if lines[0].startswith(f"{target} = "):
        lines = [lines[0].replace(f"{target} =", "return", 1)]
    elif target not in ("", "return"):
        lines.append(f"return {target}")
    names = sorted(
        (node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Name)),
        key=lambda node: (node.lineno, node.col_offset),
    )
    made = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    read = dict.fromkeys(node.id for node in names if node.id not in made and not hasattr(builtins, node.id))
    modules = [name for name in read if inspect.ismodule(function.__globals__.get(name))]
    given = [name for name in read if name not in modules] if target else inspect.signature(function).parameters
    head = [
        *(f"import {module}" for module in sorted(modules)),
        "",
        f"def {name.replace(' ', '_')}({', '.join(given)}):",
    ]
    return "\n".join([*head, textwrap.indent("\n".join(lines), "    ")]).strip()


def _assigning(function: ast.FunctionDef, target: str) -> ast.stmt:
    lines = {}
    for statement in function.body:
        if isinstance(statement, ast.Return):
            lines["return"] = statement
        elif isinstance(statement, ast.Assign):
            names = [node.id for node in ast.walk(statement.targets[0]) if isinstance(node, ast.Name)]
            lines |= {name: statement for name in names}
    if target not in lines:
        raise LookupError(f"{function.name} assigns to {sorted(lines)}, not to {target}.")
    return lines[target]


def _projected_steps(projected: Projected, recorded: AttentionTrace) -> list[Step]:
    (n, d_model), d_head = projected.layer_input.shape, recorded.query.shape[-1]
    rows = f"for each of the {n} tokens"
    whole = f"{d_model} numbers {rows}: the hidden state that the layer reads"
    steps = [
        Step("input", "X", projected.layer_input, whole, None, "read from the model as it is", project, "layer_input")
    ]
    source = "X"
    if projected.read_note:
        source, shape = r"\tilde{X}", f"{projected.read.shape[-1]} numbers {rows}"
        steps.append(
            Step("read", source, projected.read, shape, None, "made by the model's own module", projections.apply)
        )
    for name, target in (("query", "query_flat"), ("key", "key_flat"), ("value", "value")):
        letter = name[0].upper()
        bias = getattr(projected, f"{name}_bias") is not None
        turned = projected.rotary and name != "value"
        width = (projected.value_read if name == "value" else projected.read).shape[-1]
        steps.append(
            Step(
                name,
                rf"{letter} = {source}\,W_{letter}" + (f" + b_{letter}" if bias else ""),
                getattr(projected, target),
                f"{d_head} numbers {rows}, made from {width} by a matrix of {width} × {d_head}",
                None if turned else getattr(recorded, name),
                "compared with the model's own after the turn" if turned else RECEIVED,
                projections.affine,
            )
        )
    if projected.rotary:
        shape = f"still {d_head} numbers {rows}, turned in pairs by an angle that grows with the position"
        steps += [
            Step(
                f"turned {name}", rf"\mathrm{{rotate}}({name[0].upper()})", getattr(projected, name), shape,
                getattr(recorded, name), RECEIVED, projections.rotate,
            )
            for name in ("query", "key")
        ]  # fmt: skip
    return steps


def _recorded_steps(recorded: AttentionTrace) -> list[Step]:
    n, d_head = recorded.query.shape
    return [
        Step(
            name, name[0].upper(), getattr(recorded, name), f"{d_head} numbers for each of the {n} tokens", None, RECEIVED,
            LayerRecording.attend, name,
        )
        for name in ("query", "key", "value")
    ]  # fmt: skip


def _attention_steps(trace: AttentionTrace, recording: LayerRecording, head: int, own: dict[str, Tensor]) -> list[Step]:
    """From the scores to the context. own: the model's own weights and context."""
    n, d_head = trace.context.shape
    pairs = f"{n} × {n}: from each token (row) to each token (column)"
    table, row = f"{n} × {n}, one number for each pair of tokens", f"{n} × 1, one number for each row"
    usual = math.isclose(trace.scale, trace.query.shape[-1] ** -0.5)
    scaled = r"S / \sqrt{d_{head}}" if usual else rf"S \cdot {trace.scale:.4g}"
    own, steps = own | _in_double(trace, recording, head), []

    def add(name: str, formula: str, shape: str, own_from: str = DOUBLE) -> None:
        steps.append(Step(name, formula, getattr(trace, name), shape, own[name], own_from, attend, name))

    add("scores", r"S = Q K^{\top}", pairs)
    add("scaled", scaled, pairs)
    for term, recorded in zip(trace.terms, recording.terms):
        steps.append(_term_step(term, recorded, own.get(term.name), trace.scale, pairs))
    terms = r" + \sum T" if trace.terms else ""
    steps.append(Step("masked", f"{scaled}{terms} + M", trace.masked, pairs, own["masked"], DOUBLE, add_mask))
    add("maximum", r"m_i = \max_j \mathrm{masked}_{ij}", row)
    add("shifted", r"\mathrm{masked}_{ij} - m_i", table)
    add("exponentials", r"e^{\,\mathrm{masked}_{ij} - m_i}", table)
    add("total", r"\sum_j e^{\,\mathrm{masked}_{ij} - m_i}", row)
    weights = r"w_{ij} = e^{\,\mathrm{masked}_{ij} - m_i} / \mathrm{total}_i"
    add("weights", weights, f"{table}; each row sums to 1", "the model's own eager attention")
    vectors = f"{d_head} numbers for each of the {n} tokens"
    add("context", r"C = w\,V", vectors, "what the model's fast attention call returned")
    return steps


# What DeBERTa adds, in LaTeX, before the scale. r: a learned vector for the distance from the key's place to the query's.
TERMS = {
    "content to position": (r"q_i \cdot r^{K}_{i-j}", content_to_position),
    "position to content": (r"k_j \cdot r^{Q}_{i-j}", position_to_content),
}


def _term_step(
    term: Term, recorded: PositionBias | DistanceVectors, own: Tensor | None, scale: float, shape: str
) -> Step:
    if isinstance(recorded, PositionBias):
        read = "read from the model as it is: a learned number for each distance"
        return Step(term.name, r"T_{ij} = b_{i-j}", term.values, shape, None, read, PositionBias.term, "bias")
    product, function = TERMS[term.name]
    formula = rf"T_{{ij}} = {product} \cdot {scale:.4g}"
    own_from = "the model's own vectors in double precision"
    return Step(term.name, formula, term.values, shape, own, own_from, function)


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


def _output_step(projected: Projected, trace: AttentionTrace, own_context: Tensor) -> Step:
    weight = projected.output_weight
    shape = f"{weight.shape[-1]} numbers for each of the {len(trace.context)} tokens, added to what the other heads add"
    own = own_context.double() @ weight.double()
    own_from = "the model's own context times its own W_O, in double precision"
    return Step("output", r"C\,W_O", projected.output(trace.context), shape, own, own_from, Projected.output, "return")
