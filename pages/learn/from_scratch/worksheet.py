"""The worked example on paper: a worksheet with blanks, and the same sheet with the answers, as stand-alone HTML."""

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape

import pandas as pd
from torch import Tensor

from pages.learn.from_scratch.lesson_pages import softmax
from selfattn.lessons import one_head_by_hand, worked_example
from selfattn.lessons.worked_example import KEYS, QUERY, VALUES

STYLE = """
body { font: 12pt/1.5 Georgia, serif; max-width: 44em; margin: 2em auto; padding: 0 1em; color: #111; background: #fff; }
h1 { font-size: 18pt; } h2 { font-size: 13pt; margin-top: 1.6em; }
table { border-collapse: collapse; margin: .6em 0; font-variant-numeric: tabular-nums; }
td { print-color-adjust: exact; }
th, td { border: 1px solid #888; padding: .35em .9em; text-align: center; }
td.answer { min-width: 5.5em; height: 1.6em; color: #08306b; font-weight: bold; }
p.line { border-bottom: 1px solid #888; min-height: 1.8em; color: #08306b; font-weight: bold; }
@page { size: A4; margin: 13mm; }
@media print {
  body { margin: 0; max-width: none; padding: 0; font-size: 10pt; line-height: 1.3; }
  h1 { font-size: 14pt; margin: 0; } h2 { font-size: 11pt; margin: .7em 0 .2em; } p { margin: .3em 0; } table { margin: .3em 0; }
  th, td { padding: .15em .7em; }
}
"""
LINE = 'p class="line"'


def page(answers: bool) -> str:
    """The sheet as one HTML file that needs nothing else; answers: filled in, else blank."""
    title = "Self-attention by hand" + (": answers" if answers else "")
    name = "" if answers else "<p>Name: ______________________________</p>"
    three = f"1. Three words. The query is {_numbers(softmax.QUERY)}."
    worked, trace = f"2. “it” asks three words. The query is {_numbers(QUERY)}.", worked_example.compute()
    context = _numbers(trace.context[0].round(decimals=2))
    parts = (
        f"<h1>{title}</h1>{name}",
        _by_hand(
            three, {"key": softmax.KEYS}, worked_example.steps(softmax.compute(), softmax.TOKENS), ".2f", ".2f", answers
        ),
        _by_hand(worked, {"key": KEYS, "value": VALUES}, worked_example.steps(trace), ",.0f", ".0%", answers),
        f"<p>The context (weights × values, added up):</p>{_blank(LINE, context, answers)}",
        _map(answers),
        _questions(answers),
    )
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style></head><body>{''.join(parts)}</body></html>"
    )


def _by_hand(
    title: str, given: Mapping[str, Tensor], found: pd.DataFrame, power: str, weight: str, answers: bool
) -> str:
    """A table to fill in: what is given of each word; its score, that scaled, e to that and its weight, in these formats."""
    rows = [_header("word", *given, "score q · k", "divided by √2", "e to that", "weight")]
    for row, *vectors in zip(found.itertuples(), *given.values()):
        numbers = row.score, row.scaled, math.exp(row.scaled), row.weight
        computed = map(format, numbers, ("g", ".2f", power, weight))
        known = "".join(f"<td>{escape(text)}</td>" for text in (row.token, *map(_numbers, vectors)))
        rows.append(known + "".join(_blank('td class="answer"', text, answers) for text in computed))
    return f"<h2>{title}</h2>{_table(rows)}"


def _map(answers: bool) -> str:
    made = one_head_by_hand.compute()
    rows = [_header("", *made.words)]
    for place, (word, weights) in enumerate(zip(made.words, made.trace.weights.tolist())):
        blank = place == one_head_by_hand.BANK and not answers
        cells = (
            f'<td style="background:rgba(8, 48, 107, {0 if blank else weight:.2f});'
            f'color:{"#fff" if weight > 0.5 and not blank else "#111"}">{"" if blank else f"{weight:.2f}"}</td>'
            for weight in weights
        )
        rows.append(_header(word) + "".join(cells))
    scores = _numbers(made.trace.scores[one_head_by_hand.BANK])
    return (
        f"<h2>3. The map of “{escape(' '.join(made.words))}”</h2><p>The scores of “bank” are {escape(scores)}. Divide by √2, "
        f"take e to that, divide by the sum; then shade its row.</p>{_table(rows)}"
    )


def _questions(answers: bool) -> str:
    asked = (
        ("The key of “because” points exactly the way of the query, that of “street” doesn't. Why does “street” get more?",
         "Its key is longer: the dot product grows with length as well as with alignment."),
        ("Double every key. Which weights change, and which way?",
         "All scores double, so the largest weight grows and the others shrink; the order stays."),
        ("Could the context be [5, 5]? Why not?",
         "No. It is a weighted average of the values, so it lies among them."),
    )  # fmt: skip
    items = "".join(f"<p>{escape(question)}</p>{_blank(LINE, answer, answers)}" for question, answer in asked)
    return f"<h2>4. In your own words</h2>{items}"


def _header(*names: str) -> str:
    return "".join(f"<th>{escape(name)}</th>" for name in names)


def _table(rows: Sequence[str]) -> str:
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _blank(element: str, answer: str, answers: bool) -> str:
    """What is to be filled in: its answer, or nothing."""
    return f"<{element}>{escape(answer) if answers else ''}</{element.split()[0]}>"


def _numbers(numbers: Iterable[float]) -> str:
    return f"[{', '.join(f'{number:g}' for number in numbers)}]"
