"""Make the panel that shows every number a head computes for a token."""

import hashlib
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from selfattn import numbers
from selfattn.charts.kernel_figure import kernel_figure
from selfattn.encoders.capture import Head
from selfattn.panel import Live, Panel, Tables
from selfattn.tidy_tables import context_share
from selfattn.views.kernel_data import kernel_data
from selfattn.views.kernel_row import LEADING, MOST, QueryRow

NAME = "kernel"
ALIKE = 1e-6  # largest difference of weights that count as equal, because float32 rounds them
MUCH = 0.5  # from this weight on, a token gets "most of its weight"
METHOD = (
    "selfattn/kernel.py computes every number from the model's queries, keys and values. Printed numbers are "
    "rounded, to more decimals where the next step needs more. A weight says how much a head reads from a token. Later "
    "layers decide what effect the token has."
)


def kernel_panel(
    rows: QueryRow | Sequence[QueryRow],
    *,
    head: Head | None = None,
    errors: tuple[float, float | None] | None = None,
    clicks: bool = True,
    places: int = 2,
    code: str = "",
    name: str = NAME,
    finding: str = "",
    back: str = "",
) -> Panel:
    """Make the panel of one token's attention, in one sentence or two.

    errors: the drawn weights' largest difference from the model's weights on the same inputs, and from the model's weights in a
    separate forward pass (None: no such pass).
    clicks: True if a click on a token makes that token the query. places: decimals of scores, e^x and weights.
    back: label of the button that undoes a drag of the query; "": no dragging. Only a query of two numbers can be dragged.
    """
    rows = (rows,) if isinstance(rows, QueryRow) else tuple(rows)
    about, findings = alt(rows, head), [finding or largest_weight(row) for row in rows]
    key = hashlib.sha256(repr((head, [(row.name, row.tokens) for row in rows])).encode()).hexdigest()[:16]
    data = kernel_data(
        rows,
        key=key,
        about=about,
        findings=findings,
        below=_below(rows, errors),
        clicks=clicks,
        places=places,
        back=back,
    )
    return Panel(
        name=name,
        finding=" ".join(f"In {row.name}, {each}" if len(rows) > 1 else each for row, each in zip(rows, findings)),
        picture=lambda look: kernel_figure(data, look.theme, look.width),
        alt=about,
        tables=Tables({"steps": lambda: steps_frame(rows), "dimensions": lambda: dimensions_frame(rows)}),
        arrays=_arrays(rows),
        code=code,
        method=METHOD,
        live=Live("kernel", data),
        one_head=head is not None,
        sentences=(rows[0].name,) if len(rows) == 1 and rows[0].name else (),
    )


def largest_weight(row: QueryRow) -> str:
    """State which token gets the largest weight."""
    weights = row.of("weights")
    at, query = int(weights.argmax()), _query(row)
    if not weights[at] > 0:
        return f"Every token is masked for {query}, so all weights are 0."
    alike, may = int((weights >= weights[at] - ALIKE).sum()), row.hidden.count(False)
    if alike > 1:
        tokens = f"{alike} tokens" if alike < may else "every token" if may == len(weights) else "every unmasked token"
        return (
            f"{query} gives {tokens} the same weight{', the largest' * (alike < may)}: {numbers.weight(weights[at])}."
        )
    to = "itself" if at == row.query else _named(row, at)
    much = "most of its weight" if weights[at] >= MUCH else "its largest weight"
    return f"{query} gives {to} {much}: {numbers.weight(weights[at])}."


def alt(rows: Sequence[QueryRow], head: Head | None) -> str:
    """Describe the figure in words."""
    of = f"Head {head.head} of layer {head.layer}" if head else "One head"
    parts = [f"{of}, step by step. Each token's row goes from query times key to weight times value."]
    for row in rows:
        weights = row.of("weights").tolist()
        most = sorted(range(len(weights)), key=lambda at: -weights[at])[:3]
        said = ", ".join(f"{_named(row, at)} {numbers.weight(weights[at])}" for at in most)
        parts.append(f"{f'In {row.name}: ' if row.name else ''}{_query(row)} attends most to {said}.")
    return " ".join(parts)


def steps_frame(rows: Sequence[QueryRow]) -> pd.DataFrame:
    """Return a row for each token, with every step in computing the token's weight.

    masked: the scaled score plus all added terms; minus infinity for hidden tokens
    shifted: masked minus its maximum over the sentence's tokens
    share: the fraction of the context vector's length that the token adds. The fractions sum to 1; some may be negative.
    """
    tables = []
    for row in rows:
        n = len(row.tokens)
        steps = {"score": "scores", "scaled": "scaled"}
        last = {"masked": "masked", "shifted": "shifted", "exponential": "exponentials", "weight": "weights"}
        columns = {
            "sentence": [row.name] * n,
            "place": range(n),
            "token": row.tokens,
            "special": row.special or [False] * n,
            "query": [at == row.query for at in range(n)],
            **{name: row.of(step).tolist() for name, step in steps.items()},
            **{name: values.tolist() for name, values in row.terms.items()},
            **{name: row.of(step).tolist() for name, step in last.items()},
            "share": context_share(row.trace, [row.row]).tolist(),
        }
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def dimensions_frame(rows: Sequence[QueryRow]) -> pd.DataFrame:
    """Return a row for each token and dimension. Missing numbers are NaN.

    product: query times key. handed: weight times value.
    """
    tables = []
    for row in rows:
        d = max(row.trace.key.shape[-1], row.trace.value.shape[-1])
        products = row.of("query") * row.trace.key
        columns = {
            "query": row.of("query").expand_as(products), "key": row.trace.key, "product": products,
            "value": row.trace.value, "handed": row.handed,
        }  # fmt: skip
        padded = {
            name: np.pad(values.double().numpy(), ((0, 0), (0, d - values.shape[-1])), constant_values=math.nan).ravel()
            for name, values in columns.items()
        }
        places, dimensions = np.indices((len(row.tokens), d)).reshape(2, -1)
        named = {"sentence": row.name, "place": places, "token": [row.tokens[at] for at in places]}
        tables.append(pd.DataFrame({**named, "dimension": dimensions, **padded}))
    return pd.concat(tables, ignore_index=True)


def _arrays(rows: Sequence[QueryRow]) -> Mapping[str, np.ndarray]:
    arrays = {}
    for row in rows:
        end = f"_{row.name.lower()}" if row.name else ""
        steps = ("query", "scores", "scaled", "masked", "exponentials", "weights", "context")
        found = {step: row.of(step) for step in steps} | {"key": row.trace.key, "value": row.trace.value} | row.terms
        arrays |= {f"{step.replace(' ', '_')}{end}": values.numpy() for step, values in found.items()}
    return arrays


def _below(rows: Sequence[QueryRow], errors: tuple[float, float | None] | None) -> list[str]:
    lines = []
    for row in rows:
        if len(row.word) > 1 and row.query in row.word and not lines:
            nth, n = row.word.index(row.query) + 1, len(row.word)
            lines.append(
                f"The word is split into {n} tokens, each with a query. The figure shows the query of token {nth}. "
                "Click another token to see another query."
            )
    if any(len(row.tokens) > MOST for row in rows):
        lines.append(
            f"In a sentence of more than {MOST} tokens, only the {LEADING} tokens with the largest weights have rows."
        )
    if errors is not None:
        same, separate = errors
        lines.append(
            "These weights are recomputed. On the same inputs, the model's own weights differ from them by at most "
            f"{numbers.error(same)}"
            + (
                "."
                if separate is None
                else ". In a second run, the model's own weights differ from the recomputed weights by at most "
                f"{numbers.error(separate)}."
            )
        )
    return lines


def _query(row: QueryRow) -> str:
    return f'"{row.text}"' if row.text else _named(row, row.query)


def _named(row: QueryRow, at: int) -> str:
    return row.tokens[at] if row.special and row.special[at] else f'"{row.tokens[at]}"'
