"""A view as a figure of `selfattn.notebook`: what a page shows, as lines of Python, and what a link to a page asks for."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from selfattn.analysis.compare import rarest_first
from selfattn.analysis.measures import offered
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import LoadError, TextError
from selfattn.encoders.loading import load_encoder
from selfattn.encoders.sources import BUNDLED_NAME
from selfattn.examples import PAIRS, labelled_sentences
from selfattn.settings import Settings
from selfattn.views.two_sentences import word_in_two_sentences

# Where the names are that the pages' lines call.
MODULES = {
    "selfattn": ("Head", "load_encoder"),
    "selfattn.analysis.compare": ("compare_encoders",),
    "selfattn.analysis.explaining": ("explain",),
    "selfattn.analysis.targets": ("class_score", "gap_word", "similarity"),
    "selfattn.encoders.classification": ("load_class_head",),
    "selfattn.encoders.masked_lm": ("load_masked_head",),
    "selfattn.encoders.pooling": ("load_pooling",),
    "selfattn.examples": ("labelled_sentences",),
    "selfattn.notebook": (
        "all_heads", "attention", "brought_in", "counterparts", "explained_heads", "explained_words", "hidden_words",
        "removals", "steps",
    ),
    "selfattn.senses": ("interchange", "random_twin", "separation"),
}  # fmt: skip
LABELLED = "labelled_sentences()"
OWN_TABLE = 'pd.read_csv("your_table.csv")'  # where the visitor has it, no server knows
PAGES = {"": "A word in two sentences", "inside-a-head": "Inside a head", "all-heads": "All heads"}  # by address


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

    @property
    def call(self) -> tuple[str, tuple, dict[str, Any]]:
        """The figure of `selfattn.notebook`, its arguments behind the encoder, and its options that aren't the default."""
        at = {} if self.at == (1, 1) else {"at": self.at}
        if self.page == "inside-a-head":
            return "steps", (*self.texts, self.word), {**at, "layer": self.head.layer, "head": self.head.head}
        if self.page == "":
            senses = {"senses": self.senses} if self.senses else {}
            return "hidden_words", (*self.texts, self.control, self.word), {**at, **senses}
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
    called = set(re.findall(r"\b[a-zA-Z_]+(?=\()", "\n".join([body, *loaded])))
    imports = [
        f"from {module} import {', '.join(used)}"
        for module, names in MODULES.items()
        if (used := sorted(called & {*names}))
    ]
    table = "# your_table.csv: your own table, with the columns sentence, word and, where known, sense"
    return "\n".join([*([table, "import pandas as pd"] if OWN_TABLE in body else []), *imports, *loaded, body])


def _loaded(encoder: Encoder, beside: Mapping[str, Encoder], whole_path: bool) -> str:
    if not encoder.digest and len(beside) > 1:  # of no folder: drawn from the first one's configuration
        return f"random_twin({next(iter(beside))})"
    folder = Path(Settings.read().model_dir or "", encoder.name).resolve() if whole_path else f"./{encoder.title}"
    named = [] if encoder.name == BUNDLED_NAME else [repr(encoder.name if encoder.revision else str(folder))]
    named += [f"revision={encoder.revision!r}"] if named and encoder.revision else []
    named += [f"dtype={encoder.dtype!r}"] if encoder.dtype != "float32" else []
    own = named and not encoder.revision and not whole_path
    return f"load_encoder({', '.join(named)})" + ("  # the folder, where you have it" if own else "")


def linked_view(url: str, encoder: Encoder | None = None) -> tuple[Encoder, PairView]:
    """What a link to a page of two sentences asks for, with the encoder that it names, or this one in its place.

    Raises ValueError for a link to another page, or one made with other weights; LoadError, TextError.
    """
    address, asked = urlsplit(url), dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))
    page = address.path.rstrip("/").rpartition("/")[2]
    if page not in PAGES:
        raise ValueError(f"Expected a link to {', '.join(PAGES.values())}, got one to {page!r}.")
    encoder = _encoder(asked) if encoder is None else encoder
    own = "example" not in asked and bool({"a", "b"} & asked.keys())
    start = next((pair for pair in PAIRS if pair.word == asked.get("example")), PAIRS[0])
    a, b = (asked.get(key, text) for key, text in (("a", start.first), ("b", start.second)))
    control = asked.get("c", start.control if a == start.first else "")
    encodings = [encoder.encode(text) for text in (a, b)]
    shared = rarest_first(*encodings)
    if not shared:
        raise TextError("No word stands in both sentences of the link. Change one of them so that they share a word.")
    default = start.word if not own and start.word in shared else shared[0]
    word = next((each for each in shared if each.casefold() == asked.get("word", "").casefold()), default)
    at = int(asked.get("at_a", "1")), int(asked.get("at_b", "1"))
    sides = [encoding.places(word)[number - 1] for encoding, number in zip(encodings, at)]
    beside = encoder.encode(control).places(word)[:1] if control.strip() else []
    rows = labelled_sentences()
    senses = LABELLED if asked.get("way") != "sentences" and word.casefold() in set(rows["word"]) else ""
    head = Head.named(asked["head"]) if "head" in asked else None
    if head is None:
        head = word_in_two_sentences(encoder, *sides, *beside, senses=rows if senses else None).first_head
    view = PairView(
        page=page, texts=(a, b), control=control if beside else None, word=word, at=at, head=head, senses=senses,
        measure=asked.get("measure"), sentence=asked.get("sentence", "A"),
    )  # fmt: skip
    return encoder, view


def _encoder(asked: Mapping[str, str]) -> Encoder:
    """The encoder that a link names, of the weights that it was made with."""
    name = asked.get("other") if asked.get("model") == "another ..." else asked.get("model")
    bundled = name in (None, BUNDLED_NAME.split("/")[-1])
    encoder = load_encoder(
        None if bundled else name, revision=asked.get("revision"), dtype=asked.get("dtype", "float32")
    )
    if not encoder.digest.startswith(asked.get("digest", "").split(" ")[0]):
        raise LoadError(
            "digest",
            f"The link was made with other weights than {encoder.title}'s: the sha256 of those begins "
            f"{asked['digest'][:200]!r}. Load the link's encoder, and give it as encoder=.",
        )
    return encoder
