"""One head in two sentences: its whole maps, A against B, and how it computes the word's row; as it is or with a word hidden."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import pandas as pd

from selfattn.analysis.compare import compare_sentences
from selfattn.analysis.word_map import WordMap
from selfattn.captions import attention as captions
from selfattn.captions import steps
from selfattn.charts.bars import butterfly
from selfattn.charts.heatmap import heatmap
from selfattn.charts.kernel_row import kernel_row
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec
from selfattn.encoders.capture import Head
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.tidy_tables import against_frame, row_frame, strip_frame, weights_frame

SOURCES = {"scratch": "from scratch", "own": "model's own", "difference": "difference", "against": "A against B"}
# Of a map its colours' kind, its legend and its numbers' name.
WEIGHTS = "weights", "weight", "weight"
DIFFERENCE = "signed", "from scratch minus own", "difference to the model's own"

Sides = Mapping[str, PlacedWord[Encoding]]  # the word in "A" and in "B"


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture with its name, what is to be seen in it, and its numbers."""

    name: str
    spec: Spec
    caption: str
    table: Callable[[], pd.DataFrame]


def hidden_by_sentence(sides: Sides) -> dict[str, str]:
    """By sentence the word that was hidden from the word when it was run."""
    named = {}
    for name, side in sides.items():
        keys = {key for hide in side.sentence.hides for key in hide.keys}
        words = [word.label for word in side.sentence.words if keys & {*word.positions}]
        if words:
            named[name] = " and ".join(words)
    return named


def whole_head(sides: Sides, maps: Mapping[str, WordMap], head: Head, theme: Theme, source: str) -> dict[str, Picture]:
    """The head's map in A and in B, on one colour scale, cells of one size, the rows of the word outlined.

    source: whose weights `maps` are, of SOURCES.
    """
    kind, legend, what = DIFFERENCE if source == "difference" else WEIGHTS
    hidden = {name: f', "{word}" hidden' for name, word in hidden_by_sentence(sides).items()}
    maximum = max(float(view.matrix.abs().max()) for view in maps.values())
    beside = [view.labels for view in maps.values()]
    draw = partial(heatmap, theme=theme, kind=kind, maximum=maximum, legend=legend, beside=beside)
    pictures = {}
    for name, view in maps.items():
        without, whose = hidden.get(name, ""), "" if source == "scratch" else f", {SOURCES[source]}"
        title, marked = f"{name}   {head}{without}", view.rows_of(sides[name].positions)
        spec = draw(view.matrix, view.labels, marked=marked, title=title, color=theme.sentence(name))
        pictures[name] = Picture(
            f"what each word attends to in {name}{whose}{without}",
            spec,
            captions.largest_cell(view.matrix.numpy(), view.labels, what),
            partial(weights_frame, view.matrix, view.labels),
        )
    return pictures


def against(sides: Sides, head: Head, theme: Theme, *, special: bool = True) -> tuple[Picture, Picture]:
    """The word's row, then all rows, in A against those in B."""
    compared = compare_sentences(sides["A"], sides["B"], *head, special=special)
    rows = {name: side.sentence.weights(*head, side.rows).mean(0) for name, side in sides.items()}
    own = against_frame(*(strip_frame(side.sentence, rows[name], side.word, name) for name, side in sides.items()))
    word = sides["A"].word.text
    row = Picture(
        f'what "{word}" attends to, A against B',
        butterfly(own, theme, name=str(head)),
        captions.only_one_has(own, word),
        lambda: own,
    )
    whole = heatmap(  # words that stand in one sentence only are bands
        compared.matrix,
        compared.labels,
        theme,
        kind="signed",
        marked=[compared.chosen],
        sides=compared.side,
        title=f"A minus B   {head}",
        legend="weight in A minus weight in B",
    )
    reading = captions.weight_difference(compared)
    return row, Picture("what each word attends to, A minus B", whole, reading, compared.frame)


def words_row(sides: Sides, head: Head, theme: Theme, error: float, separate: float | None = None) -> Picture:
    """How the head computes what it hands the word: score, weight, handed over, word by word, with the kernel's lines.

    error, separate: the largest differences to the model's own weights, for the sentence beneath. Raises NotRecomputable.
    """
    rows = row_steps(sides, head)
    word, hidden = sides["A"].word.text, hidden_by_sentence(sides)
    beside = "".join(f', "{text}" hidden in {name}' for name, text in hidden.items())
    pieces = max(len(side.positions) for side in sides.values())
    reading = f"{steps.row(rows, word, pieces)} {steps.kernel_error(error, separate)}"
    return Picture(f'how {head} computes the row of "{word}"{beside}', kernel_row(rows, theme), reading, lambda: rows)


def row_steps(sides: Sides, head: Head) -> pd.DataFrame:
    """The steps of the word's row in A and in B, word by word: tidy_tables.row_frame. Raises NotRecomputable."""
    traces = {name: side.sentence.trace(*head, side.rows) for name, side in sides.items()}
    tables = [row_frame(traces[name], side.positions, side.sentence, name) for name, side in sides.items()]
    return pd.concat(tables, ignore_index=True)
