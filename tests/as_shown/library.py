"""What the library computes over many sentences, for few of them: the pages' own come from stored reports."""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from selfattn import load_encoder
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.examples import labelled_sentences
from selfattn.scan.measure import measure
from selfattn.scan.tables import Row
from selfattn.senses import head_profiles, separation
from selfattn.senses.nearest_sentences import labelled_vectors, nearest_by_stage
from selfattn.tidy_tables import named_heads
from selfattn.views.senses import separation_panels
from tests.as_shown.record import BESIDE, Lines, column, table, texts

WORDS = {"bank": 6, "bat": 6, "ring": 4}
SPLIT = {  # a word of several pieces
    "person": ("A swashbuckler leapt across the deck.", "Her uncle was a loud swashbuckler with a hat.",
               "The drunken swashbuckler drew his sword and laughed.", "Nobody dared to insult that swashbuckler twice."),
    "film": ("We watched an old swashbuckler on television.", "The Swashbuckler won two prizes at the festival.",
             "Critics called it the best swashbuckler of the decade.", "He directed a swashbuckler for the studio."),
}  # fmt: skip


def sentences() -> pd.DataFrame:
    """Four words with six or four sentences a sense, one of them of several pieces; and rows that can't be used."""
    labelled = labelled_sentences()
    some = [labelled[labelled["word"] == word].groupby("sense", sort=False).head(n) for word, n in WORDS.items()]
    rows = [(sentence, "swashbuckler", sense) for sense, own in SPLIT.items() for sentence in own]
    rows += [("", "bank", "none"), ("No such word.", "bank", "none"), ("A bank beside a bank.", "bank", "none")]
    added = pd.DataFrame(rows, columns=["sentence", "word", "sense"])
    return pd.concat([*some, added], ignore_index=True)[list(added)]


def parts(report: Any) -> Lines:
    """A report's fields, a line each."""
    lines: Lines = {}
    for field in dataclasses.fields(report):
        value = getattr(report, field.name)
        named = (
            {f"{field.name} {name}": part for name, part in value.items()}
            if isinstance(value, dict)
            else {field.name: value}
        )
        lines |= {name: _line(part) for name, part in named.items()}
    return lines


def _line(value: Any) -> str:
    if isinstance(value, pd.DataFrame):
        return table(value)
    return column("values", np.ravel(value).tolist()) if isinstance(value, tuple | np.ndarray) else str(value)


def separated(encoder: Encoder) -> dict[str, Lines]:
    report = separation(encoder, sentences(), shuffles=50)
    frames = {"named": named_heads(report.heads), "sentences": report.sentences(3, 7)}
    said = [text for panel in separation_panels(report, Head(3, 7)) for text in (panel.finding, panel.note)]
    return {
        "report": parts(report),
        "says": texts(said),
        "frames": {name: table(frame) for name, frame in frames.items()},
    }


def profiled(encoder: Encoder) -> dict[str, Lines]:
    return {"report": parts(head_profiles(encoder, sentences()))}


def nearest(encoder: Encoder) -> dict[str, Lines]:
    few = sentences().query("word == 'bat'")
    word = encoder.locate(few["sentence"].iloc[0], "bat")[0]
    found = nearest_by_stage(encoder, word, labelled_vectors(encoder, few), word.others[-2])
    return {"frames": {name: table(frame) for name, frame in found.items()}}


def scanned(encoder: Encoder) -> dict[str, Lines]:
    rows = [Row(i, "table.csv", i + 2, *row) for i, row in enumerate(sentences().itertuples(index=False, name=None))]
    found, rejects = measure(encoder, rows, vectors=True, batch_tokens=100)
    columns = [column(name, np.hstack(values).tolist()) for name, values in found.to_pydict().items()]
    return {
        "rows": {"columns": BESIDE.join(columns)},
        "rejects": texts(f"{reject.row.row}: {reject.reason}" for reject in rejects),
    }


def _kept(make: Callable[[Encoder], dict[str, Lines]]) -> dict[str, dict[str, Lines]]:
    return {"few sentences": make(load_encoder(device="cpu"))}


MAKERS = (separated, profiled, nearest, scanned)
RECORDS = {f"library_{make.__name__}": partial(_kept, make) for make in MAKERS}
