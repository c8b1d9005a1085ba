"""Make the data of the component `kernel` (dashboard/components/kernel.schema.json).

Vectors are sent as integers: each number times 10 ** decimals.
"""

import math
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from selfattn import kernel, numbers
from selfattn.analysis.compare import align
from selfattn.charts.kernel_figure import FEW, read
from selfattn.charts.labels import isolated_words
from selfattn.kernel import AttentionTrace
from selfattn.views.kernel_lines import source
from selfattn.views.kernel_row import QueryRow, leading
from selfattn.words import fold

VERSION = 2
VECTORS = 4  # decimals of queries, keys and values
HANDED = 3  # decimals of weight x value
MINUS = "−"
CONTEXT = "The context is the head's result for this token: the weighted mean of the values."
# The variables of `kernel.attend` that each column shows.
MAKES = {
    "products": ["scores"], "score": ["scores"], "scaled": ["scale", "scaled"],
    "exponential": ["maximum", "shifted", "exponentials"], "weight": ["total", "weights"], "handed": ["context"],
}  # fmt: skip


def kernel_data(
    rows: Sequence[QueryRow],
    *,
    key: str,
    about: str,
    findings: Sequence[str],
    below: Sequence[str] = (),
    clicks: bool = True,
    places: int,
    back: str = "",
) -> dict[str, Any]:
    """Return the data of one token's attention, in one sentence or two. key, about, below: as in kernel.schema.json.

    clicks: True if a click on a token makes that token the query. places: decimals of scores, e^x and weights.
    """
    decimals = _decimals(rows, places)
    columns = _columns(rows)
    names = {column["id"] for column in columns}
    sides = [_side(row, pair, names, places, decimals) for row, pair in zip(rows, _pairs(rows))]
    return {
        "version": VERSION,
        "key": key,
        "about": about,
        "findings": [isolated_words(each) for each in findings],
        "context": CONTEXT,
        "below": list(map(isolated_words, below)),
        "clicks": clicks,
        "places": decimals,
        "largest": _largest(sides),
        "columns": [column | _ends(column, sides) for column in columns],
        "code": _code(),
        "sides": sides,
        "plane": _plane(rows[0], back) if back else None,
    }


def _plane(row: QueryRow, back: str) -> dict[str, Any]:
    """Return the vectors from which the browser recomputes the row while the visitor drags the query."""
    vectors = {"query": row.of("query"), "keys": row.trace.key, "values": row.trace.value}
    return {name: values.tolist() for name, values in vectors.items()} | {"scale": row.trace.scale, "back": back}


def _largest(sides: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Return the largest absolute value in each kind of strip (a strip shows a vector as coloured cells)."""
    rows = [row for side in sides for row in side["rows"]]
    strips = {
        "vectors": [side["query"]["values"] for side in sides],
        "products": [row["products"] for row in rows],
        "handed": [*(side["context"] for side in sides), *(row["handed"] for row in rows)],
    }
    return {
        kind: max(1, *(abs(int(part)) for strip in own for part in strip.split(","))) for kind, own in strips.items()
    }


def _ends(column: dict[str, Any], sides: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the ends of the scale for a column's bars, and the number of characters in the column's longest text."""
    rows = [row for side in sides for row in (*side["rows"], side["rest"]) if row and column["id"] in row["cells"]]
    texts = [row["cells"][column["id"]] for row in rows]
    finite = [value for value in map(read, texts) if math.isfinite(value)]
    low, high = min([0.0, *finite]), max([1.0 if column["kind"] == "share" else 0.0, *finite])
    return {"ends": [low, high if high > low else 1.0], "digits": max(map(len, texts), default=0)}


def _decimals(rows: Sequence[QueryRow], places: int) -> dict[str, int]:
    """Return how many decimals to write for "vectors" (queries, keys, values), "products" and "handed" (weight x value)."""
    most = {"vectors": VECTORS, "products": places, "handed": max(HANDED, places)}
    if all(max(row.trace.key.shape[-1], row.trace.value.shape[-1]) > FEW for row in rows):
        return most
    vectors = [tensor for row in rows for tensor in (row.of("query"), row.trace.key, row.trace.value)]
    numbers_of = {
        "vectors": torch.cat([tensor.flatten() for tensor in vectors]),
        "products": torch.cat([(row.of("query") * row.trace.key).flatten() for row in rows]),
        "handed": torch.cat([tensor.flatten() for row in rows for tensor in (row.handed, row.of("context"))]),
    }
    return {kind: _has_decimals(values.double(), most[kind]) for kind, values in numbers_of.items()}


def _has_decimals(values: Tensor, most: int) -> int:
    return next(
        p for p in range(most + 1) if p == most or torch.allclose(values, values.round(decimals=p), rtol=0, atol=1e-6)
    )


def whole(values: Tensor, places: int) -> list[str]:
    """Return each row as comma-separated integers: numbers times 10 ** places."""
    exact = np.atleast_2d(values.detach().double().numpy())
    scaled = np.floor(np.abs(exact) * 10**places + 0.5)
    return [",".join(map(str, row)) for row in np.where(exact < 0, -scaled, scaled).astype(int).tolist()]


def _columns(rows: Sequence[QueryRow]) -> list[dict[str, Any]]:
    trace = rows[0].trace
    names = list(dict.fromkeys(name for row in rows for name in row.terms))
    masks = any(any(row.hidden) for row in rows)
    symbol = factor(trace)[0]
    before = "scaled" if symbol else "score"
    columns = [("products", "query × key", f"{trace.query.shape[-1]} products: positive blue, negative red", "strip")]
    columns.append(("score", "score", "their sum", "number"))
    if symbol:
        columns.append(("scaled", "scaled", symbol, "number"))
    columns += [(f"term {name}", name, "is added", "number") for name in names]
    if names or masks:
        sum_of = " + ".join([before, *names])
        before = "masked" if masks else "sum"
        about = [*([sum_of] if names else []), *([f"{MINUS}∞: hidden"] if masks else [])]
        columns.append(("masked", before, "; ".join(about), "number"))
    columns += [
        ("exponential", "e^x", f"x: {before} {MINUS} largest", "share"),
        ("weight", "weight", "÷ sum of e^x", "share"),
        ("handed", "weight × value", "summed below: the context", "strip"),
    ]
    keys = ("id", "title", "about", "kind")
    return [dict(zip(keys, each)) | {"makes": MAKES.get(each[0], ["masked"])} for each in columns]


def _code() -> list[dict[str, str]]:
    """Return each line of `kernel.attend` with the variable that the line sets."""
    lines = source(kernel.attend).splitlines()
    made = [line.strip().split(" = ")[0] for line in lines]
    return [{"text": line, "makes": name if name.isidentifier() else ""} for line, name in zip(lines, made)]


def _pairs(rows: Sequence[QueryRow]) -> list[dict[int | None, int | None]]:
    """Map each sentence's tokens to the matching tokens of the other sentence."""
    if len(rows) != 2:
        return [{} for _ in rows]
    a, b = ([(special, fold(text)) for text, special in zip(row.tokens, _special(row))] for row in rows)
    pairs = align(a, b, (rows[0].query, rows[1].query))
    return [dict(pairs), {there: here for here, there in pairs}]


def _special(row: QueryRow) -> tuple[bool, ...]:
    return row.special or (False,) * len(row.tokens)


def _side(
    row: QueryRow, pair: dict[int | None, int | None], columns: Collection[str], places: int, decimals: dict[str, int]
) -> dict[str, Any]:
    kept, rest = leading(row)
    sums = {"exponential": _text(_total(row), places), "weight": _text(float(row.of("weights").sum()), places)}
    largest = float(row.of("maximum")[0])
    last = next(name for name in ("masked", "scaled", "score") if name in columns)
    lines = _lines(row, kept, places)
    strips = {
        "products": whole((row.of("query") * row.trace.key)[kept], decimals["products"]),
        "keys": whole(row.trace.key[kept], decimals["vectors"]),
        "values": whole(row.trace.value[kept], decimals["vectors"]),
        "handed": whole(row.handed[kept], decimals["handed"]),
    }
    special, cells = _special(row), {name: texts for name, texts in _cells(row, places).items() if name in columns}
    return {
        "name": row.name,
        "query": {"at": row.query, "text": row.asks, "values": whole(row.of("query"), decimals["vectors"])[0]},
        "rows": [
            {
                "at": at,
                "text": row.tokens[at],
                "special": bool(special[at]),
                "word": at in row.word,
                "pair": pair.get(at),
                "hidden": row.hidden[at],
                "cells": {name: texts[at] for name, texts in cells.items()},
                "fine": numbers.decimal(row.of("weights")[at], 4),
                **{name: strip[i] for name, strip in strips.items()},
                "steps": lines[i],
            }
            for i, at in enumerate(kept)
        ],
        "rest": None if not rest else _rest(row, rest, places, decimals["handed"]),
        "sums": sums | ({last: _text(largest, places)} if math.isfinite(largest) else {}),
        "context": whole(row.of("context"), decimals["handed"])[0],
    }


def _rest(row: QueryRow, rest: Sequence[int], places: int, handed: int) -> dict[str, Any]:
    """Return one row for all remaining tokens together, with the sums of their numbers."""
    exponential, weight = (float(row.of(step).double()[rest].sum()) for step in ("exponentials", "weights"))
    write = _share(places)
    return {
        "text": f"{len(rest)} other tokens",
        "cells": {"exponential": _short(write(exponential)), "weight": _short(write(weight))},
        "fine": _text(weight, 4),
        "handed": whole(row.handed.double()[rest].sum(0), handed)[0],
    }


def _share(places: int) -> Callable[[float], str]:
    return numbers.weight if places == 2 else partial(numbers.decimal, places=places)


def _total(row: QueryRow) -> float:
    return float(row.of("total")[0])


def _cells(row: QueryRow, places: int) -> dict[str, list[str]]:
    decimal, share = partial(numbers.decimal, places=places), _share(places)
    columns: dict[str, tuple[Tensor, Callable[[float], str]]] = {
        "score": (row.of("scores"), decimal),
        "scaled": (row.of("scaled"), decimal),
        **{f"term {name}": (values, decimal) for name, values in row.terms.items()},
        "masked": (row.of("masked"), decimal),
        "exponential": (row.of("exponentials"), share),
        "weight": (row.of("weights"), share),
    }
    return {name: [_short(write(value)) for value in values.tolist()] for name, (values, write) in columns.items()}


def _short(text: str) -> str:
    return text.replace("under ", "<")


# The functions below write out how a token's weight is computed, with enough decimals to check each step.


def factor(trace: AttentionTrace) -> tuple[str, float]:
    """Return the scaling of scores as text and number: ("÷ √64", 0.125)."""
    d_head, scale = trace.query.shape[-1], trace.scale
    if scale == 1:
        return "", 1.0
    for under in (d_head, 2 * d_head, 3 * d_head):
        if math.isclose(scale, under**-0.5, rel_tol=1e-6):
            return f"÷ √{under}", under**-0.5
    by = 1 / (scale * math.sqrt(d_head)) if scale else 0.0
    if math.isclose(by, float(f"{by:.3g}"), rel_tol=1e-6) and scale:
        return f"÷ √{d_head} ÷ {by:.3g}", scale
    return f"× {scale:.8g}".replace("-", MINUS), float(f"{scale:.8g}")


def _lines(row: QueryRow, kept: Sequence[int], places: int) -> list[list[list[str]]]:
    total, largest = _total(row), float(row.of("maximum")[0])
    steps = ("scores", "scaled", "masked", "exponentials", "weights")
    columns = zip(*(row.of(step)[list(kept)].tolist() for step in steps))
    terms = zip(*(values[list(kept)].tolist() for values in row.terms.values())) if row.terms else [()] * len(kept)
    return [_line(factor(row.trace), token, added, largest, total, places) for token, added in zip(columns, terms)]


def _line(
    scale: tuple[str, float], steps: Sequence[float], added: Sequence[float], largest: float, total: float, places: int
) -> list[list[str]]:
    """Return the printed arithmetic of one token: a list of [column, text].

    steps: score, scaled score, masked score, e^x, weight. added: terms added to the scaled score.
    largest: the row's largest masked score. total: the row's sum of e^x.
    """
    (symbol, times), (score, scaled, masked, exponential, weight) = scale, steps
    if masked == -math.inf:
        shares = [["exponential", f"e^({MINUS}∞) = 0"], ["weight", f"0 ÷ {_text(total, places)} = 0"]]
        end, x = [["masked", f"hidden: {MINUS}∞"], *(shares if total else [["weight", "no token is left: 0"]])], places
    else:
        text, under, share = _division(exponential, total, weight, places)
        x = _fewest(places, text, lambda p: math.exp(min(_number(masked, p) - _number(largest, p), 0)))
        power = f"e^({_text(masked, x)} {MINUS} {_bracketed(_text(largest, x))})"
        end = [["exponential", f"{power} = {text}"], ["weight", f"{text} ÷ {under} = {share}"]]
        if added:
            sum_, parts = _text(masked, x), (scaled, *added)
            x = _fewest(x, sum_, lambda p: sum(_number(each, p) for each in parts))
            more = (f" {MINUS if each < 0 else '+'} {_text(abs(each), x)}" for each in added)
            end.insert(0, ["masked", f"{_text(scaled, x)}{''.join(more)} = {sum_}"])
    if not symbol:
        return [["score", f"query · key = {_text(score, x)}"], *end]
    after = _text(scaled, x)
    score_ = _text(score, _fewest(places, after, lambda p: _number(score, p) * times))
    return [["score", f"query · key = {score_}"], ["scaled", f"{score_} {symbol} = {after}"], *end]


def _division(exponential: float, total: float, weight: float, places: int) -> tuple[str, str, str]:
    """Return e^x, total and weight as texts, with enough decimals that the printed division is correct."""
    write = _share(places)
    share, text = write(weight), write(exponential)
    first = max(places, _places(text))
    for more in range(8):
        under = _text(total, places + more)
        if text.startswith("under") or write(read(text) / read(under)) == share:
            break
        text = _text(exponential, first + more + 1)
    return text, under, share


def _fewest(places: int, wanted: str, computed: Callable[[int], float]) -> int:
    """Return the smallest number of decimals at which rounded inputs still give `wanted`.

    computed: the result for inputs with that many decimals. Results that could be rounded either way, such as 0.125, don't count.
    """
    write = numbers.weight if wanted.startswith("under") else partial(numbers.decimal, places=_places(wanted))
    near = (-1e-9, 1e-9)
    return next((p for p in range(places, 12) if all(write(computed(p) + each) == wanted for each in near)), places)


def _text(value: float, places: int) -> str:
    return numbers.decimal(value, places)


def _number(value: float, places: int) -> float:
    return read(_text(value, places))


def _places(text: str) -> int:
    return len(text.partition(".")[2])


def _bracketed(text: str) -> str:
    return f"({text})" if text.startswith(MINUS) else text
