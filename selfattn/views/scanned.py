"""Make the panels of a finished scan."""

import math
from collections.abc import Sequence

import pandas as pd

from selfattn import numbers
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.panel import Panel, Tables
from selfattn.tidy_tables import named_heads, sentence_words
from selfattn.views.dots_and_heads import heads_panel
from selfattn.views.senses import OPEN
from selfattn.views.shaded import Tint, shaded_data, shaded_picture
from selfattn.words import fold

SHOWN = 24  # words
MEASURES = ("special_share", "entropy", "top_weight")


def sources(encoder: Encoder, table: pd.DataFrame) -> Panel:
    """Make the panel of the words that, when hidden, move another word's vector farthest."""
    word, n = table["word"].iloc[0], round(table["n"].iloc[0] / table["share"].iloc[0])
    first, shown = table.iloc[0], table.iloc[:SHOWN]
    rows = []
    for row in shown.itertuples():
        for each in encoder.uncut(row.sentence).words:
            here = row.share if fold(each.text) == fold(row.source) else math.nan
            rows.append((row.Index, each, each.label, here, fold(each.text) == fold(word)))
    frame = sentence_words(rows, "row", "share")
    said = {row.Index: _said(row.source, row.n, row.move) for row in shown.itertuples()}
    tint = Tint(
        "share",
        numbers.share,
        f'hiding this word moves "{word}" farthest in {{}} of the occurrences',
        float(first["share"]),
    )
    open = OPEN if len(set(table["sentence"])) > 1 else ""
    finding = (
        f'Of all hidden words, "{first["source"]}" most often has the largest effect on "{word}": in '
        f"{numbers.count(first['n'])} of {numbers.count(n)} occurrences of the target word."
    )
    more = (
        f"The figure shows {SHOWN} of {numbers.count(len(table))} words: those that most often have the largest effect. "
        if len(table) > SHOWN
        else ""
    )
    none = "" if open else " All rows have the same sentence, so there is no pair of sentences to open."
    return Panel(
        name="sources",
        finding=finding,
        **shaded_picture(shaded_data(frame, said, tint, open)),
        note=f"{more}A move is 1 minus the cosine of the word's vectors before and after hiding another word. A move has no "
        f"direction, so moves say nothing about senses.{none}",
        alt=f"{finding} {' '.join(said.values())}",
        tables=Tables({"sources": lambda: table}),
    )


def _said(source: str, n: int, move: float) -> str:
    return (
        f'Hiding "{source}" has the largest effect on {numbers.count(n)} occurrences of the target word: '
        f"on average, it moves their vectors (1 minus cosine) by {numbers.decimal(move, 3)}"
    )


def means(heads: pd.DataFrame, measure: str, head: Head | str, occurrences: int) -> Panel:
    """Make the map of all heads, coloured by the mean of one of MEASURES."""
    table, name = named_heads(heads), measure.replace("_", " ")
    most = table.loc[table[measure].idxmax()]
    over = f"over {numbers.count(occurrences)} occurrences"
    finding = f"{most['name']} has the largest mean {name}: {numbers.decimal(most[measure])}, {over}."
    return heads_panel(f"mean {name}", finding, table, measure, head, look_of={"kind": "weights", "title": name})


def opened(table: pd.DataFrame, at: int) -> tuple[str, str] | None:
    """Return a row's sentence and a different sentence of another row; None if all rows have the same sentence."""
    a = table["sentence"].iloc[at]
    others: Sequence[str] = table["sentence"][table["sentence"] != a].tolist()
    return (a, others[0]) if others else None
