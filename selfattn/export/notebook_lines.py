"""What a page shows as lines of Python, "Copy as Python": a figure of `selfattn.notebook`, or of the functions beneath it."""

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selfattn.analysis.measures import offered
from selfattn.charts.vega import Spec
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.sources import BUNDLED_NAME
from selfattn.settings import Settings
from selfattn.views.predictions import Question

# Where the names are that the pages' lines call.
MODULES = {
    "selfattn": ("Head", "load_encoder"),
    "selfattn.analysis.explaining": ("explain",),
    "selfattn.analysis.targets": ("class_score", "gap_word", "similarity"),
    "selfattn.encoders.classification": ("load_class_head",),
    "selfattn.encoders.masked_lm": ("load_masked_head",),
    "selfattn.encoders.pooling": ("load_pooling",),
    "selfattn.examples": ("labelled_sentences",),
    "selfattn.notebook": (
        "all_heads", "attention", "chart", "counterparts", "difference", "explained_heads",
        "explained_words", "hidden_words", "removals", "scanned", "separated", "steps", "word_lines",
    ),
    "selfattn.scan": ("read_scan",),
    "selfattn.senses": ("random_twin", "separation"),
}  # fmt: skip
LABELLED = "labelled_sentences()"
OWN_TABLE = 'pd.read_csv("your_table.csv")'  # where the visitor has it, no server knows
PAGES = {"": "A word in two sentences", "inside-a-head": "Inside a head", "all-heads": "All heads"}  # by address
TABS = MAPS, LINES = "Maps", "Lines from the word"  # of All heads
# What a page's buttons say for each of their options, and so its address.
SAID = {
    "way": {"senses": "between the senses", "sentences": "between the sentences"},
    "sentence": {"A": "A", "B": "B", "both": "A and B as one text"},
    "asked": {"class": "A class", "similarity": "Two sentences", "gap": "A gap"},
    "source": {"labelled": "the labelled set", "table": "your own table", "scan": "a finished scan"},
}


def overlaid_first(head: Head) -> tuple[str, ...]:
    """What stands beneath one another under LINES, unless somebody chooses otherwise."""
    return str(head), f"average of L{head.layer}", "rollout"


@dataclass(frozen=True, kw_only=True)
class PairView:
    """What a page of two sentences shows, by the page's address."""

    page: str
    texts: tuple[str, str]
    control: str | None
    word: str
    at: tuple[int, int]  # which of the word's places in each sentence, from 1
    head: Head
    senses: str = ""  # LABELLED or OWN_TABLE, where shares are of the way between the senses of these
    measure: str | None = None  # All heads: by which the grid is coloured
    sentence: str = "A"  # All heads: whose maps: "A", "B", "both"
    tab: str = MAPS  # All heads: which of TABS
    overlaid: tuple[str, ...] = ()  # All heads, LINES: which heads, averages and rollout

    @property
    def call(self) -> tuple[str, tuple, dict[str, Any]]:
        """The figure of `selfattn.notebook`, its arguments behind the encoder, and its options that aren't the default."""
        at = {} if self.at == (1, 1) else {"at": self.at}
        if self.page == "inside-a-head":
            return "steps", (*self.texts, self.word), {**at, "layer": self.head.layer, "head": self.head.head}
        if self.page == "":
            senses = {"senses": self.senses} if self.senses else {}
            return "hidden_words", (*self.texts, self.control, self.word), {**at, **senses}
        if self.tab == LINES:
            return "word_lines", (*self.texts, self.word), {**at, "of": self.overlaid}
        (a, b), shown = self.texts, {"chosen": str(self.head)}
        if self.sentence == "both":
            alone = {"measure": self.measure} if self.measure in offered([]) else {}
            return "all_heads", (a,), {"pair": b, **alone, **shown}
        maps = {"maps_of": "B"} if self.sentence == "B" else {}
        beside = {"control": self.control} if self.control else {}
        measured = {"measure": self.measure} if self.measure else {}
        return "all_heads", (a,), {"second": b, **beside, "word": self.word, **at, **maps, **measured, **shown}

    @property
    def line(self) -> str:
        """The call, of `encoder`."""
        figure, arguments, options = self.call
        given = [f"{name}={value if name == 'senses' else repr(value)}" for name, value in options.items()]
        return f"{figure}({', '.join(['encoder', *map(repr, arguments), *given])})"


def notebook_lines(body: str, encoders: Mapping[str, Encoder], whole_path: bool = True) -> str:
    """Lines of Python that run anywhere: what the body calls is imported, and the encoders are loaded by their names in it.

    whole_path: name a folder by its whole path, else as one of the reader's own, and say so. Either way it is no Hub id.
    """
    loaded = [f"{name} = {_loaded(encoder, encoders, whole_path)}" for name, encoder in encoders.items()]
    called = {node.id for node in ast.walk(ast.parse("\n".join([body, *loaded]))) if isinstance(node, ast.Name)}
    imports = [
        f"from {module} import {', '.join(used)}"
        for module, names in MODULES.items()
        if (used := sorted(called & {*names}))
    ]
    table = "# your_table.csv: your own table, with the columns sentence, word and, where known, sense"
    return "\n".join([*([table, "import pandas as pd"] if OWN_TABLE in body else []), *imports, *loaded, body])


def figure_lines(spec: Spec) -> str:
    """A figure that has no other lines: as it is, its numbers in it."""
    return f"chart({json.loads(json.dumps(spec))!r})"


def senses_lines(rows: str) -> str:
    """The separation of the senses in labelled sentences: LABELLED or OWN_TABLE."""
    return f"separated(separation(encoder, {rows}))"


def scan_lines(folder: str, measure: str, head: Head, whole_path: bool) -> str:
    """Of a finished scan: the map of a measure's means. whole_path: as for `notebook_lines`."""
    folder = str(Path(folder).resolve()) if whole_path else f"./{Path(folder).name}"
    said = "" if whole_path else "  # the folder, where you have it"
    return f"scan = read_scan({folder!r}){said}\nscanned(scan, {measure!r}, chosen='{head}')"


def encoders_lines(text: str, head: Head, partner: Head | None) -> str:
    """Of two encoders, `first` and `second`: the map of all heads; of two without counterparts, the second minus the first."""
    if partner is None:
        return f"counterparts(first, second, {text!r}, chosen='{head}')"
    return f"difference(first, second, {text!r}, {head!r}, {partner!r})"


def predictions_lines(questions: Sequence[Question], head: Head) -> str:
    """Of the encoder's own answer: the words of each sentence, and the first one's heads."""
    lines = ["found = {}"]
    for each in questions:
        lines += [
            f"sentence, asked = encoder.encode({each.sentence.text!r}), {each.python}",
            f"found[{each.said!r}] = explain(encoder, sentence, asked(sentence))",
        ]
    heads = f"explained_heads(next(iter(found.values())), '{head}')  # in a cell of its own"
    return "\n".join([*lines, heads, "explained_words(found)"])


def _loaded(encoder: Encoder, beside: Mapping[str, Encoder], whole_path: bool) -> str:
    if not encoder.digest and len(beside) > 1:  # of no folder: drawn from the first one's configuration
        return f"random_twin({next(iter(beside))})"
    folder = Path(Settings.read().model_dir or "", encoder.name).resolve() if whole_path else f"./{encoder.title}"
    named = [] if encoder.name == BUNDLED_NAME else [repr(encoder.name if encoder.revision else str(folder))]
    named += [f"revision={encoder.revision!r}"] if named and encoder.revision else []
    named += [f"dtype={encoder.dtype!r}"] if encoder.dtype != "float32" else []
    own = named and not encoder.revision and not whole_path
    return f"load_encoder({', '.join(named)})" + ("  # the folder, where you have it" if own else "")
