"""Make the worksheet and its answer sheet as HTML files."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import Template

import pandas as pd
from torch import Tensor

from pages.learn.from_scratch.lesson_pages import softmax
from selfattn.lessons import one_head_by_hand, worked_example
from selfattn.lessons.one_head_by_hand import BANK
from selfattn.lessons.worked_example import KEYS, QUERY, VALUES


def page(answers: bool) -> str:
    """Return the sheet as one HTML file, with or without answers."""
    trace, made = worked_example.compute(), one_head_by_hand.compute()
    three = worked_example.steps(worked_example.compute(softmax.QUERY, softmax.KEYS), softmax.TOKENS)
    sheet = Template(Path(__file__).with_suffix(".html").read_text("utf-8").strip()).substitute(
        title="Self-attention by hand" + (": answers" if answers else ""),
        name="" if answers else "<p>Name: ______________________________</p>",
        three_query=_numbers(softmax.QUERY), three=_by_hand({"key": softmax.KEYS}, three, ".2f", ".2f"),
        query=_numbers(QUERY), worked=_by_hand({"key": KEYS, "value": VALUES}, worked_example.steps(trace), ",.0f", ".0%"),
        context=_numbers(trace.context[0].round(decimals=2)), scores=_numbers(made.trace.scores[BANK]),
        map=_table(["", *made.words], [_map_row(at, *row) for at, row in enumerate(zip(made.words, made.trace.weights))]),
    )  # fmt: skip
    return sheet if answers else re.sub(r'<(\w+) class="answer"[^>]*>[^<]*', r'<\1 class="answer">', sheet)


def _by_hand(given: Mapping[str, Tensor], found: pd.DataFrame, power: str, weight: str) -> str:
    """Return a table to fill in. power, weight: format specs for e^x and for the weights."""
    rows = []
    for row, *vectors in zip(found.itertuples(), *given.values()):
        numbers = row.score, row.scaled, math.exp(row.scaled), row.weight
        known = (f"<td>{text}</td>" for text in (row.token, *map(_numbers, vectors)))
        computed = map(format, numbers, ("g", ".2f", power, weight))
        rows.append("".join([*known, *(f'<td class="answer">{text}</td>' for text in computed)]))
    return _table(["word", *given, "score q · k", "divided by √2", "e to that", "weight"], rows)


def _map_row(at: int, word: str, weights: Tensor) -> str:
    """Return one row of the attention map. In a sheet without answers, `page` empties the row of "bank"."""
    kind = ' class="answer"' if at == BANK else ""
    shades = (f"background:rgba(8, 48, 107, {w:.2f});color:{'#fff' if w > 0.5 else '#111'}" for w in weights.tolist())
    cells = (f'<td{kind} style="{shade}">{w:.2f}</td>' for shade, w in zip(shades, weights.tolist()))
    return f"<th>{word}</th>{''.join(cells)}"


def _table(header: Sequence[str], rows: Sequence[str]) -> str:
    head = "".join(f"<th>{name}</th>" for name in header)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in (head, *rows))}</table>"


def _numbers(numbers: Iterable[float]) -> str:
    return f"[{', '.join(f'{number:g}' for number in numbers)}]"
