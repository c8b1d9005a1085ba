"""Make the panel of one head's attention maps of two sentences."""

from collections.abc import Mapping
from functools import partial

from selfattn import numbers
from selfattn.analysis.word_map import MOST, WordMap
from selfattn.charts.heatmap import heatmap
from selfattn.charts.vega import Spec, beside
from selfattn.encoders.capture import Head
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.panel import Look, Panel, Tables
from selfattn.tidy_tables import weights_frame

SOURCES = {"scratch": "from scratch", "own": "model's own", "difference": "difference"}

Sides = Mapping[str, PlacedWord[Encoding]]  # the chosen word by sentence: "A", "B", or "" for one joint text


def hidden_by_sentence(sides: Sides) -> dict[str, str]:
    """Return the words that are hidden from the chosen word, keyed by sentence."""
    named = {}
    for name, side in sides.items():
        keys = {key for hide in side.sentence.hides for key in hide.keys}
        words = [word.label for word in side.sentence.words if keys & {*word.positions}]
        if words:
            named[name] = " and ".join(words)
    return named


def head_maps(sides: Sides, maps: Mapping[str, WordMap], head: Head, source: str) -> Panel:
    """Make the panel of a head's attention maps of sentences A and B. source: a key of SOURCES."""
    differ = source == "difference"
    hidden = {name: f', "{word}" hidden' for name, word in hidden_by_sentence(sides).items()}
    of = f"Head {head.head} of layer {head.layer}" + "".join(f"{said} in {name}" for name, said in hidden.items())
    whose = "" if source == "scratch" else f", {SOURCES[source]}"
    titles = {name: f"{name}   {head}{whose}{hidden.get(name, '')}" for name in maps}
    draw = partial(
        heatmap,
        kind="signed" if differ else "weights",
        maximum=max(float(view.matrix.abs().max()) for view in maps.values()),
        legend="from scratch minus own" if differ else "weight",
        beside=[view.labels for view in maps.values()],
    )

    def picture(look: Look) -> Spec:
        theme = look.theme
        marked = {name: view.rows_of(sides[name].positions) for name, view in maps.items()}
        both = (
            draw(view.matrix, view.labels, theme, marked=marked[name], title=titles[name], color=theme.sentence(name))
            for name, view in maps.items()
        )
        return beside(*both)

    found = [
        largest_difference(view, name) if differ else surest_word(view, f"in {name}") for name, view in maps.items()
    ]
    finding, notes = " ".join([f"{of}.", *found]), {name: left_out(view) for name, view in maps.items()}
    return Panel(
        name="maps",
        finding=finding,
        picture=picture,
        alt=f"{', '.join(titles.values())}. Rows attend to columns. {finding}",
        tables=Tables(
            {f"map of {name}": partial(weights_frame, view.matrix, view.labels) for name, view in maps.items()}
        ),
        note=" ".join(f"{name}: {note}" for name, note in notes.items() if note),
        one_head=True,
    )


def surest_word(view: WordMap, where: str) -> str:
    """State which word gives a map's largest weight, and to which token."""
    words = [not special and any(map(str.isalnum, label)) for special, label in zip(view.special, view.labels)]
    rows = [row for row, is_word in enumerate(words) if is_word]
    if not rows:
        return f"There is no word {where}."
    matrix = view.matrix[rows]
    row, column = divmod(int(matrix.argmax()), matrix.shape[1])
    giver, weight = view.labels[rows[row]], numbers.weight(matrix[row, column])
    receiver = view.labels[column] if view.special[column] else f'"{view.labels[column]}"'
    return f'Of the words {where}, "{giver}" gives the largest weight: {weight} to {receiver}.'


def largest_difference(view: WordMap, name: str) -> str:
    """State the largest difference between recomputed weights and the model's own."""
    row, column = divmod(int(view.matrix.abs().argmax()), len(view.labels))
    error = numbers.error(view.matrix[row, column])
    return (
        f"In {name}, the recomputed weights differ from the model's by at most {error} "
        f'(the weight from "{view.labels[row]}" to "{view.labels[column]}").'
    )


def left_out(view: WordMap) -> str:
    """State how much weight the map leaves out, and how many weights share a cell."""
    said = []
    if view.hidden:
        said.append(
            f"Special tokens get {numbers.share(view.hidden)} of the weight and are left out. Each row is scaled to sum to 1."
        )
    if view.step > 1:
        said.append(
            f"Each cell shows the largest of {view.step} × {view.step} weights, because a map has at most {MOST} rows."
        )
    return " ".join(said)
