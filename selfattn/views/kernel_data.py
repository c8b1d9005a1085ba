"""The data of the component `kernel`, by dashboard/components/kernel.schema.json: one head's computation of one token's row.

A number that is printed travels as its text; the numbers of a strip travel as whole numbers of equal parts.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from selfattn import kernel, numbers
from selfattn.analysis.compare import align
from selfattn.charts.code_view import source
from selfattn.charts.labels import isolated_words, right_to_left
from selfattn.encoders.capture import Head
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.kernel import AttentionTrace
from selfattn.words import fold

VERSION = 1
VECTORS, PRODUCTS, HANDED = 10_000, 100, 1000  # parts of queries, keys and values; of query x key; of weight x value
MOST = 64  # tokens, each a row; of longer sentences LEADING have one, and all others share one
LEADING = 24
MINUS = "−"
# The line of the kernel that makes a column, by the name that the line gives its result.
MAKES = {
    "products": "scores", "score": "scores", "scaled": "scaled", "masked": "masked", "exponential": "exponentials",
    "weight": "weights", "handed": "context",
}  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True)
class QueryRow:
    """One token's row of a head: what it attends to, with every step."""

    trace: AttentionTrace  # of one head: query (n_rows, d_head), key (n, d_head), scores (n_rows, n) ...
    tokens: tuple[str, ...]  # n
    query: int  # the token whose row it is
    name: str = ""  # "A" or "B"
    first: int = 0  # the token of the trace's first row
    special: tuple[bool, ...] = ()  # n, or (): none is
    word: tuple[int, ...] = ()  # the positions of the word that the page is about
    text: str = ""  # the word as it is spelled; "": the query's token

    @property
    def row(self) -> int:
        """The row of the trace."""
        return self.query - self.first

    def of(self, step: str) -> Tensor:
        """A step's numbers of this row: "scores", "scaled", "masked", "exponentials" or "weights", (n,); "query", (d_head,)."""
        return getattr(self.trace, step)[self.row]

    @property
    def terms(self) -> dict[str, Tensor]:
        """The terms that are added to the scaled scores, (n,) by name; a float mask is one, "mask"."""
        shape, mask = self.trace.scores.shape, self.trace.mask
        found = {term.name: term.values.expand(shape)[self.row] for term in self.trace.terms}
        if mask is not None and mask.dtype != torch.bool:
            found["mask"] = mask.expand(shape)[self.row].to(self.trace.scores.dtype)
        return found

    @property
    def handed(self) -> Tensor:
        """Weight times value of each token, (n, d_value)."""
        return self.of("weights")[:, None] * self.trace.value


def word_row(
    placed: PlacedWord[Encoding],
    head: Head,
    name: str = "",
    *,
    query: int | None = None,
    trace: AttentionTrace | None = None,
) -> QueryRow:
    """The row of a word's first piece, or of any other token of its sentence.

    trace: in place of the head's own, of all tokens. Raises NotRecomputable where the encoder is shown only.
    """
    encoding = placed.sentence
    at = placed.positions[0] if query is None else query
    first = 0 if trace is not None else at
    trace = trace or encoding.trace(*head, slice(at, at + 1))
    whole = {word.start: word.label for word in encoding.words if len(word.positions) == 1}
    tokens = tuple(whole.get(position, token) for position, token in enumerate(encoding.tokens))
    return QueryRow(
        trace=trace, tokens=tokens, query=at, name=name, first=first, special=encoding.special, word=placed.positions,
        text=placed.word.text if at in placed.positions else "",
    )  # fmt: skip


def kernel_data(
    rows: Sequence[QueryRow], *, key: str, about: str, below: Sequence[str] = (), clicks: bool = True
) -> dict[str, Any]:
    """All that the browser shows of one row, or of two. clicks: a click on a token asks for its row."""
    columns = _columns(rows)
    return {
        "version": VERSION,
        "key": key,
        "about": about,
        "below": list(map(isolated_words, below)),
        "clicks": clicks,
        "units": {"vectors": VECTORS, "products": PRODUCTS, "handed": HANDED},
        "columns": columns,
        "code": _code(),
        "sides": [_side(row, pair, {column["id"] for column in columns}) for row, pair in zip(rows, _pairs(rows))],
    }


def whole(values: Tensor, parts: int) -> list[str]:
    """Each row's numbers in whole parts, halves away from zero, between commas; minus infinity is no number."""
    exact = np.atleast_2d(values.detach().double().numpy())
    scaled = np.floor(np.abs(exact) * parts + 0.5)
    return [",".join(map(str, row)) for row in np.where(exact < 0, -scaled, scaled).astype(int).tolist()]


def _columns(rows: Sequence[QueryRow]) -> list[dict[str, Any]]:
    trace = rows[0].trace
    names = list(dict.fromkeys(name for row in rows for name in row.terms))
    masks = any(row.trace.mask is not None for row in rows)
    symbol = factor(trace)[0]
    before = "scaled" if symbol else "score"
    columns = [("products", "query × key", f"number by number: {trace.query.shape[-1]}", "strip")]
    columns.append(("score", "score", "their sum", "number"))
    if symbol:
        columns.append(("scaled", "scaled", symbol, "number"))
    columns += [(f"term {name}", name, "is added", "number") for name in names]
    if names or masks:
        sum_of = " + ".join([before, *names])
        hidden = f"{MINUS}∞: hidden" if not names else f"{sum_of}; {MINUS}∞: hidden"
        before = "masked" if masks else "sum"
        columns.append(("masked", before, hidden if masks else sum_of, "number"))
    columns += [
        ("exponential", "e^x", f"of {before} {MINUS} largest", "share"),
        ("weight", "weight", "÷ sum of e^x", "share"),
        ("handed", "weight × value", "what is handed over", "strip"),
    ]
    keys = ("id", "title", "about", "kind")
    return [dict(zip(keys, each)) | {"makes": MAKES.get(each[0], "masked")} for each in columns]


def _code() -> list[dict[str, str]]:
    """The kernel's lines, each with the name of what it makes; "" where it makes nothing by itself."""
    lines = source(kernel.attend).splitlines()
    made = [line.strip().split(" = ")[0] if " = " in line and line.startswith("    ") else "" for line in lines]
    return [{"text": line, "makes": name if name.isidentifier() else ""} for line, name in zip(lines, made)]


def _pairs(rows: Sequence[QueryRow]) -> list[dict[int, int]]:
    """By token of each row the token of the other that it is matched with."""
    if len(rows) != 2:
        return [{} for _ in rows]
    keys = [[(special, fold(text)) for text, special in zip(row.tokens, _special(row))] for row in rows]
    matched = [pair for pair in align(*keys, (rows[0].query, rows[1].query)) if None not in pair]
    return [dict(matched), {there: here for here, there in matched}]


def _special(row: QueryRow) -> tuple[bool, ...]:
    return row.special or (False,) * len(row.tokens)


def _side(row: QueryRow, pair: dict[int, int], columns: Collection[str]) -> dict[str, Any]:
    kept, rest = leading(row)
    sums = {"exponential": numbers.decimal(_total(row)), "weight": numbers.decimal(row.of("weights").sum())}
    largest = row.of("maximum")[0]
    last = next(name for name in ("masked", "scaled", "score") if name in columns)
    lines = _lines(row, kept)
    products, keys, values = row.of("query") * row.trace.key, row.trace.key, row.trace.value
    strips = {
        "products": whole(products[kept], PRODUCTS),
        "keys": whole(keys[kept], VECTORS),
        "values": whole(values[kept], VECTORS),
        "handed": whole(row.handed[kept], HANDED),
    }
    special, cells = _special(row), {name: texts for name, texts in _cells(row).items() if name in columns}
    return {
        "name": row.name,
        "dir": "rtl" if right_to_left(" ".join(t for t, special in zip(row.tokens, special) if not special)) else "ltr",
        "query": {
            "at": row.query,
            "text": row.tokens[row.query],
            "values": whole(row.of("query"), VECTORS)[0],
        },
        "rows": [
            {
                "at": at,
                "text": row.tokens[at],
                "special": bool(special[at]),
                "word": at in row.word,
                "pair": pair.get(at),
                "hidden": bool(row.of("masked")[at] == -math.inf),
                "cells": {name: texts[at] for name, texts in cells.items()},
                "fine": numbers.decimal(row.of("weights")[at], 4),
                **{name: strip[i] for name, strip in strips.items()},
                "steps": lines[i],
            }
            for i, at in enumerate(kept)
        ],
        "rest": None if not rest else _rest(row, rest),
        "sums": sums | ({last: numbers.decimal(largest)} if math.isfinite(largest) else {}),
        "context": whole(row.of("context"), HANDED)[0],
    }


def leading(row: QueryRow) -> tuple[list[int], list[int]]:
    """The tokens that have a row, in the sentence's order, and the others; of a long sentence those of the largest weights.

    The query itself always has one.
    """
    n = len(row.tokens)
    if n <= MOST:
        return list(range(n)), []
    weights = row.of("weights").tolist()
    first = sorted(range(n), key=lambda at: -math.inf if at == row.query else -weights[at])[:LEADING]
    return sorted(first), sorted({*range(n)} - {*first})


def _rest(row: QueryRow, rest: Sequence[int]) -> dict[str, Any]:
    """The sums over the tokens without a row."""
    exponential, weight = (float(row.of(step).double()[rest].sum()) for step in ("exponentials", "weights"))
    return {
        "text": f"{len(rest)} other tokens",
        "cells": {"exponential": numbers.weight(exponential), "weight": numbers.weight(weight)},
        "fine": numbers.decimal(weight, 4),
        "handed": whole(row.handed.double()[rest].sum(0), HANDED)[0],
    }


def _total(row: QueryRow) -> float:
    return float(row.of("total")[0])


def _cells(row: QueryRow) -> dict[str, list[str]]:
    """Each column's texts, one a token."""
    own = row.terms
    columns: dict[str, tuple[Tensor, Callable[[float], str]]] = {
        "score": (row.of("scores"), numbers.decimal),
        "scaled": (row.of("scaled"), numbers.decimal),
        **{f"term {name}": (values, numbers.decimal) for name, values in own.items()},
        "masked": (row.of("masked"), numbers.decimal),
        "exponential": (row.of("exponentials"), numbers.weight),
        "weight": (row.of("weights"), numbers.weight),
    }
    return {name: [write(value) for value in values.tolist()] for name, (values, write) in columns.items()}


# The arithmetic of one token, in numbers from which each next one can be computed as it is printed


def factor(trace: AttentionTrace) -> tuple[str, float]:
    """How a score becomes a scaled one, as it is written after the score, and as a factor; ("", 1.0) where it stays."""
    d_head, scale = trace.query.shape[-1], trace.scale
    if scale == 1:
        return "", 1.0
    for under in (d_head, 2 * d_head, 3 * d_head):
        if math.isclose(scale, under**-0.5, rel_tol=1e-6):
            return f"÷ √{under}", under**-0.5
    times = scale * math.sqrt(d_head)
    if math.isclose(times, float(f"{times:.3g}"), rel_tol=1e-6):
        return f"÷ √{d_head} × {times:.3g}", scale
    return f"× {scale:.8g}".replace("-", MINUS), float(f"{scale:.8g}")


def _lines(row: QueryRow, kept: Sequence[int]) -> list[list[list[str]]]:
    """Of each of these tokens its steps, [column, text]."""
    symbol, times = factor(row.trace)
    own = row.terms
    total, largest = _total(row), float(row.of("maximum")[0])
    steps = ("scores", "scaled", "masked", "exponentials", "weights")
    columns = [row.of(step)[list(kept)].tolist() for step in steps]
    terms = [values[list(kept)].tolist() for values in own.values()]
    found = []
    for i, (score, scaled, masked, exponential, weight) in enumerate(zip(*columns)):
        added = [values[i] for values in terms]
        if masked == -math.inf:
            found.append(_hidden(score, symbol, scaled, total))
            continue
        share, text, places, under = _softmax(masked, largest, exponential, total, weight)
        deeper = next(
            (p for p in range(places, 12) if _close([_number(each, p) for each in (scaled, *added)], masked, places)),
            places,
        ) if own else places  # fmt: skip
        finest = next(
            (p for p in range(2, 12) if numbers.decimal(_number(score, p) * times, deeper) == _text(scaled, deeper)),
            deeper,
        ) if symbol else deeper  # fmt: skip
        line = [["score", f"query · key = {_text(score, finest)}"]]
        if symbol:
            line.append(["scaled", f"{_text(score, finest)} {symbol} = {_text(scaled, deeper)}"])
        if own:
            sum_of = " + ".join(_bracketed(_text(each, deeper)) for each in (scaled, *added))
            line.append(["masked", f"{sum_of} = {_text(masked, places)}"])
        line.append(
            ["exponential", f"e^({_text(masked, places)} {MINUS} {_bracketed(_text(largest, places))}) = {text}"]
        )
        line.append(["weight", f"{text} ÷ {under} = {share}"])
        found.append(line)
    return found


def _hidden(score: float, symbol: str, scaled: float, total: float) -> list[list[str]]:
    line = [["score", f"query · key = {_text(score, 2)}"]]
    if symbol:
        line.append(["scaled", f"{_text(score, 2)} {symbol} = {_text(scaled, 2)}"])
    line += [["masked", f"hidden: {MINUS}∞"], ["exponential", f"e^({MINUS}∞) = 0"]]
    return [*line, ["weight", f"0 ÷ {_text(total, 2)} = 0" if total else "no token may be attended to: 0"]]


def _softmax(
    masked: float, largest: float, exponential: float, total: float, weight: float
) -> tuple[str, str, int, str]:
    """The weight, e^x, the decimals of x and of the largest, and the total: as printed, each can be computed from the others."""
    share = numbers.weight(weight)
    small = exponential < numbers.SMALLEST_WEIGHT
    base = 2 if exponential >= 0.005 or small else -math.floor(math.log10(exponential))
    text, under = numbers.weight(exponential), _text(total, 2)
    if not small:
        for more in range(8):
            text, under = _text(exponential, base + more), _text(total, 2 + more)
            if numbers.weight(_value(text) / _value(under)) == share:
                break
    for places in range(2, 12):
        computed = math.exp(min(_number(masked, places) - _number(largest, places), 0))
        if (numbers.weight(computed) if small else _text(computed, _places(text))) == text:
            return share, text, places, under
    return share, text, 12, under


def _text(value: float, places: int) -> str:
    return numbers.decimal(value, places)


def _number(value: float, places: int) -> float:
    """A number as it is printed."""
    return _value(_text(value, places))


def _value(text: str) -> float:
    return float(text.replace(MINUS, "-").replace("∞", "inf"))


def _places(text: str) -> int:
    return len(text.partition(".")[2])


def _close(parts: Sequence[float], value: float, places: int) -> bool:
    return _text(sum(parts), places) == _text(value, places)


def _bracketed(text: str) -> str:
    return f"({text})" if text.startswith(MINUS) else text
