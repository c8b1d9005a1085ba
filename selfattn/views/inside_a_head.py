"""Make the panels of the page "Inside a head"."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any

import pandas as pd
from torch import Tensor

from selfattn import numbers
from selfattn.analysis.measures import similarity
from selfattn.analysis.steps import HeadSteps, head_steps
from selfattn.analysis.what_if import change
from selfattn.charts.strips import Strip, product, strips
from selfattn.charts.vega import Spec
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.encoders.projections import Projected, output_weight
from selfattn.kernel import AttentionTrace
from selfattn.panel import Look, Panel, Tables
from selfattn.views.kernel_row import word_row
from selfattn.views.kernel_view import kernel_panel

TERMS = 6  # the number of products with a line each; the others share one line
TITLES = {
    "input": "the layer's input",
    "read": "the projections' input",
    "query": "× W_Q = query: what the token looks for",
    "key": "× W_K = key: what the token is found by",
    "value": "× W_V = value: what the token hands over",
    "turned query": "the query, rotated by the token's position",
    "turned key": "the key, rotated by the token's position",
}
RAMP = (
    "Negative numbers are red, positive numbers blue. "
    "In each group of strips, the number farthest from 0 has the deepest colour."
)


@dataclass(frozen=True, eq=False)
class Followed:
    """A token, with every step that a head computes for that token."""

    name: str  # "A" or "B"
    word: PlacedWord[Encoding]
    position: int  # of the token
    steps: HeadSteps
    real: AttentionTrace  # the head's trace, as the model computes it
    trace: AttentionTrace  # `real`, or a trace that the visitor has changed (analysis/what_if.py)

    @property
    def changed(self) -> bool:
        """True if the visitor has changed a step of the attention."""
        return self.trace is not self.real

    @property
    def tokens(self) -> tuple[str, ...]:
        """The sentence's tokens."""
        return self.word.sentence.tokens

    @property
    def label(self) -> str:
        """The word if it is a single token, else the token."""
        return self.word.word.text if self.word.positions == (self.position,) else self.tokens[self.position]

    @property
    def projected(self) -> Projected:
        """The head's projections. Raises AssertionError if there are none."""
        assert self.steps.projected is not None
        return self.steps.projected

    @property
    def output(self) -> Tensor:
        """The head's output after W_O: (d_model,)."""
        return self.projected.output(self.trace.context[self.position])

    def row(self, step: str) -> Tensor:
        """Return the token's vector of one step, such as "query"."""
        return self.steps[step].values[self.position]


def follow(
    encoder: Encoder, name: str, word: PlacedWord[Encoding], head: Head, position: int | None = None, **changes: Any
) -> Followed:
    """Return every step that a head computes for a token.

    position: None for the word's first token. changes: as in `what_if.change`.
    Raises NotRecomputable if selfattn can't recompute the attention.
    """
    position, real = word.positions[0] if position is None else position, word.sentence.trace(*head)
    return Followed(name, word, position, head_steps(encoder, word.sentence, *head), real, change(real, **changes))


def computed(sides: Sequence[Followed], head: Head, errors: tuple[float, float | None]) -> Panel:
    """Make the panel that shows all steps from scores to context. errors: as in `kernel_panel`."""
    rows = [word_row(side.word, head, side.name, query=side.position, trace=side.trace) for side in sides]
    changed = any(side.changed for side in sides)
    panel = kernel_panel(rows, head=head, errors=None if changed else errors)
    if not changed:
        return panel
    kept = {name: partial(panel.tables.__getitem__, name) for name in panel.tables}
    tables = Tables({**kept, "what if": lambda: _changed(sides)})
    return replace(panel, note=" ".join(map(_what_changes, sides)), tables=tables)


def _changed(sides: Sequence[Followed]) -> pd.DataFrame:
    tables = []
    for side in sides:
        columns = {"sentence": side.name, "place": range(len(side.tokens)), "token": side.tokens}
        weights = {"weight": side.real.weights, "changed": side.trace.weights}
        tables.append(pd.DataFrame(columns | {name: each[side.position].tolist() for name, each in weights.items()}))
    return pd.concat(tables, ignore_index=True)


def _what_changes(side: Followed) -> str:
    before, after = (numbers.weight(trace.weights[side.position].max()) for trace in (side.real, side.trace))
    contexts = [trace.context[side.position] for trace in (side.real, side.trace)]
    return (
        f"With the changes, the largest weight in {side.name} goes from {before} to {after}. The contexts with and without "
        f"the changes have cosine {_cosine(*contexts)}."
    )


def comes_in(sides: Sequence[Followed]) -> Iterator[Panel]:
    """Yield two panels: the token's input, query, key and value vectors; and one component of its query as a sum."""
    first = sides[0]
    rows = {step.name: [side.row(step.name) for side in sides] for step in first.steps.steps if step.name in TITLES}
    coming, largest = next(iter(rows.values())), int(first.row("query").abs().argmax())
    known = first.steps.projected is not None
    errors = pd.concat([side.steps.errors.assign(sentence=side.name) for side in sides], ignore_index=True)
    yield _strips(
        "what comes in", f"The layer's input for {_named(sides)} has {len(coming[0])} numbers{_alike(coming)}.",
        TITLES, rows, sides,
        marked=(list(rows).index("query"), largest) if known else None, note=RAMP, method=_proof(errors, first.steps.note),
        more={"largest differences from the model's own numbers": lambda: errors},
    )  # fmt: skip
    if known:
        yield _written_out(first, largest)


def _written_out(side: Followed, dimension: int) -> Panel:
    """Make the panel that writes one component of the query vector as a sum of products."""
    terms, query_bias = _terms(side, dimension), side.projected.query_bias
    shown = terms.loc[terms["product"].abs().sort_values(ascending=False, kind="stable").index[:TERMS]]
    rest = float(terms["product"].sum() - shown["product"].sum())
    bias = None if query_bias is None else float(query_bias[dimension])
    number = numbers.decimal(side.row("query")[dimension])
    finding = f'Number {dimension} of the query of "{side.label}" is {number}, a sum of {len(terms)} products.'
    names = ("input", "W_Q", f"the other {len(terms) - len(shown)} products", "sum")
    return Panel(
        name="one product written out",
        finding=finding,
        picture=cache(lambda look: product(shown, rest, bias, names, look.theme)),
        alt=f"{finding} Bars show the {len(shown)} largest products, the sum of the others, and the bias.",
        tables=Tables({"one product written out": lambda: terms}),
        one_head=True,
        sentences=(side.name,),
    )


def _terms(side: Followed, dimension: int) -> pd.DataFrame:
    """Return the products whose sum is one component of the query vector (before the bias)."""
    first, second = side.projected.read[side.position], side.projected.query_weight[:, dimension]
    columns = {"first": first, "second": second, "product": first * second}
    return pd.DataFrame({"dimension": range(len(first)), **{name: each.tolist() for name, each in columns.items()}})


def goes_out(encoder: Encoder, sides: Sequence[Followed], head: Head) -> Iterator[Panel]:
    """Yield two panels: the head's output, and the hidden state with the outputs that are added to it."""
    if sides[0].steps.projected is None:
        return
    added = [side.output for side in sides]
    titles = {"context": "context: the weighted mean of the values", "output": "× W_O = the head's output"}
    rows = {"context": [side.trace.context[side.position] for side in sides], "output": added}
    finding = f"The head adds a vector of {len(added[0])} numbers to {_named(sides)}{_alike(added)}."
    yield _strips("what goes out", finding, titles, rows, sides)
    own, others = [side.row("input") for side in sides], [_by_others(encoder, side, head) for side in sides]
    if len(added[0]) != len(own[0]):  # MobileBERT's heads add to a narrower vector than the hidden state
        return
    titles = {"own vector": "the hidden state", "this head": f"+ the output of {head}"}
    rows = {"own vector": own, "this head": added}
    if all(other is not None for other in others):
        titles["other heads"] = f"+ the outputs of the other {encoder.n_heads - 1} heads, and the bias"
        titles["sum"] = "= the sum"
        rows |= {"other heads": others, "sum": [sum(each) for each in zip(own, added, others)]}
    lengths = [numbers.decimal(each[0].norm()) for each in (added, own)]
    finding = (
        f"In {sides[0].name} the head adds a vector of length {lengths[0]} to a hidden state of length {lengths[1]}."
    )
    note = "All strips have the same colour scale. The number on the right is the length of the vector."
    yield _strips("residual", finding, titles, rows, sides, lengths=True, note=note)


def _by_others(encoder: Encoder, side: Followed, head: Head) -> Tensor | None:
    """Return the sum of the other heads' outputs and the bias: (d_model,)."""
    sentence, bias = side.word.sentence, side.projected.output_bias
    contexts = sentence.own_context(head.layer)[:, side.position].float()  # (n_heads, d_head)
    weight = output_weight(encoder, sentence.recordings[head.layer].module)
    if len(weight) != contexts.numel():
        return None
    contexts = contexts.clone()
    contexts[head.head] = 0
    added = contexts.flatten() @ weight
    return added if bias is None else added + bias


def _proof(errors: pd.DataFrame, note: str) -> str:
    """State each step's largest difference from the model's own numbers."""
    worst = errors.groupby("step", sort=False)["error"].max().dropna()
    said = ", ".join(f"{name} {numbers.error(error)}" for name, error in worst.items())
    text = (
        "selfattn takes the layer's input from the model and computes the later steps itself. Over all tokens, the results "
        f"differ from the model's numbers by at most: {said}."
    )
    return f"{text}\n\n{note}" if note else text


def _named(sides: Sequence[Followed]) -> str:
    return " and ".join(dict.fromkeys(f'"{side.label}"' for side in sides))


def _alike(rows: Sequence[Tensor]) -> str:
    return f". The vectors in A and B have a cosine of {_cosine(*rows)} with each other" if len(rows) > 1 else ""


def _cosine(first: Tensor, second: Tensor) -> str:
    return numbers.cosine(float(similarity(first, second)))


def _strips(
    name: str,
    finding: str,
    titles: Mapping[str, str],
    rows: Mapping[str, Sequence[Tensor]],
    sides: Sequence[Followed],
    *,
    lengths: bool = False,
    marked: tuple[int, int] | None = None,
    more: Mapping[str, Callable[[], pd.DataFrame]] = MappingProxyType({}),
    **said: str,
) -> Panel:
    """Make a panel of vectors, each drawn as a row of coloured cells.

    lengths: True to give all vectors the same colour scale, and to print each vector's norm.
    """

    @cache
    def picture(look: Look) -> Spec:
        groups = []
        for each, own in rows.items():
            ends = [numbers.decimal(row.norm()) if lengths else "" for row in own]
            drawn = [
                Strip(side.name, row.tolist(), look.theme.sentence(side.name), end)
                for side, row, end in zip(sides, own, ends)
            ]
            groups.append((f"{titles[each]} ({len(own[0])} numbers)", drawn))
        return strips(groups, look.theme, together=lengths, marked=marked)

    return Panel(
        name=name, finding=finding, picture=picture, one_head=True, **said,
        alt=f"{finding} Each strip of coloured cells shows a vector: {', '.join(rows)}.",
        tables=Tables({name: partial(_vectors_frame, sides, rows), **more}),
    )  # fmt: skip


def _vectors_frame(sides: Sequence[Followed], rows: Mapping[str, Sequence[Tensor]]) -> pd.DataFrame:
    tables = []
    for name, own in rows.items():
        for side, row in zip(sides, own):
            about = {"sentence": side.name, "position": side.position, "token": side.tokens[side.position]}
            tables.append(pd.DataFrame({**about, "vector": name, "dimension": range(len(row)), "value": row.tolist()}))
    return pd.concat(tables, ignore_index=True)
