"""Reports on the bundled encoder and the built-in sentences, computed beforehand, so that a page about them opens at once.

`python -m selfattn.stored_reports` computes them all anew, or those that are named. Each is a folder of selfattn/data/reports:
its tables as CSV, and about.json with the encoder's content, the digest of what was read, its method's version, the libraries and
the date. It is handed out only where content, digest and version are those of here and now.
"""

import datetime
import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, Generic, TypeVar, final

import numpy as np
import pandas as pd
import torch

from selfattn import senses
from selfattn.analysis.sense_means import SenseMeans, sense_means
from selfattn.encoders.encoder import Encoder, Progress, followed
from selfattn.examples import PRONOUNS, PronounSentence, labelled_sentences
from selfattn.lessons.counterexamples import HalvedSenses, halved_senses
from selfattn.lessons.pronouns import PronounWeights, pronoun_rows, pronoun_weights
from selfattn.words import fold

T = TypeVar("T")
FOLDER = Path(str(files("selfattn") / "data" / "reports"))
LIBRARIES = ("torch", "transformers", "numpy", "pandas")
DIGITS = "%.7g"


@dataclass(frozen=True)
class Kind:
    """A report that is stored: a frozen dataclass of tables, arrays and plain values."""

    type: type
    version: int  # raise it where the method changes, or the columns
    reads: Callable[[], object]  # the sentences it is about
    make: Callable[..., object]  # from the encoder and those sentences; progress=


@final
@dataclass(frozen=True, eq=False)
class Stored(Generic[T]):
    """A report that was computed beforehand."""

    report: T
    date: str


@dataclass(frozen=True, eq=False)
class AllSenseMeans:
    """Where every word's senses lie: `SenseMeans` of each."""

    senses: pd.DataFrame  # word, sense, count, within
    means: np.ndarray  # (rows of senses, d_model)

    def of(self, word: str, encoder: Encoder, read: pd.DataFrame) -> SenseMeans:
        """One word's. read: the table that they were made of. Raises ValueError for a word that isn't in it."""
        word = fold(word)
        own, rows = self.senses["word"] == word, read[read["word"] == word]
        if rows.empty:
            raise ValueError(f"There are no stored means of {word!r}: the table has no labelled sentences of it.")
        return SenseMeans(
            word=word,
            senses=tuple(self.senses.loc[own, "sense"]),
            means=torch.from_numpy(self.means[own.to_numpy()]).double(),
            counts=tuple(self.senses.loc[own, "count"]),
            within=float(self.senses.loc[own, "within"].iloc[0]),
            labels={encoder.tokenize(one).ids: sense for one, sense in zip(rows["sentence"], rows["sense"])},
        )


def all_sense_means(encoder: Encoder, frame: pd.DataFrame, progress: Progress) -> AllSenseMeans:
    """`sense_means` of each word of a table, all of whose rows can be used."""
    found = [sense_means(encoder, frame, word) for word in followed(sorted(set(frame["word"])), progress)]
    table = [(each.word, *own, each.within) for each in found for own in zip(each.senses, each.counts)]
    means = torch.cat([each.means for each in found]).numpy()
    return AllSenseMeans(pd.DataFrame(table, columns=["word", "sense", "count", "within"]), means)


def read_pronouns(encoder: Encoder, sentences: Sequence[PronounSentence], progress: Progress) -> PronounWeights:
    """`pronoun_weights` of the sentences as the encoder reads them."""
    return pronoun_weights([pronoun_rows(encoder.encode(one.sentence), one) for one in followed(sentences, progress)])


KINDS = {
    "separation": Kind(senses.SeparationReport, 2, labelled_sentences, senses.separation),
    "sense_means": Kind(AllSenseMeans, 1, labelled_sentences, all_sense_means),
    "hidden_words": Kind(senses.HiddenWordsReport, 1, labelled_sentences, senses.hidden_words),
    "head_profiles": Kind(senses.HeadProfiles, 1, labelled_sentences, senses.head_profiles),
    "pronouns": Kind(PronounWeights, 1, lambda: PRONOUNS, read_pronouns),
    "halved_senses": Kind(HalvedSenses, 2, labelled_sentences, halved_senses),
}


def stored(name: str, encoder: Encoder, read: object, folder: Path = FOLDER) -> Stored[Any] | None:
    """The stored report of that name about `read` (its sentences), None where it is about others or of another encoder."""
    place = folder / name / "about.json"
    if encoder.dtype != "float32" or not place.is_file():
        return None
    about = json.loads(place.read_text("utf-8"))
    if {key: about[key] for key in ("content", "read", "version")} != _identity(name, encoder, read):
        return None
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in about["values"].items()}
    for field in fields(KINDS[name].type):
        table = place.with_name(f"{field.name.strip('_')}.csv")
        if field.name in about["arrays"]:
            shape, dtype = about["arrays"][field.name]
            values[field.name] = np.loadtxt(table, delimiter=",", ndmin=2).reshape(shape).astype(dtype)
        elif field.name not in values:
            as_layer = {"layer": lambda text: int(text) if text.isdecimal() else text}
            values[field.name] = pd.read_csv(table, index_col=0, converters=as_layer)
    return Stored(KINDS[name].type(**values), about["date"])


def store(name: str, encoder: Encoder, read: object, report: object, folder: Path = FOLDER) -> None:
    """Write a report so that `stored` finds it."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    arrays, values = {}, {}
    for field in fields(report):
        value, table = getattr(report, field.name), place / f"{field.name.strip('_')}.csv"
        if isinstance(value, pd.DataFrame):
            value.to_csv(table, float_format=DIGITS, lineterminator="\n")
        elif isinstance(value, np.ndarray):
            arrays[field.name] = [list(value.shape), str(value.dtype)]
            np.savetxt(table, value.reshape(-1, value.shape[-1]), fmt=DIGITS, delimiter=",")
        else:
            values[field.name] = value
    about = {
        **_identity(name, encoder, read),
        "encoder": encoder.name,
        "date": datetime.date.today().isoformat(),
        "libraries": {library: version(library) for library in LIBRARIES},
        "values": values,
        "arrays": arrays,
    }
    (place / "about.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")


def _identity(name: str, encoder: Encoder, read: object) -> dict[str, str | int]:
    text = read.to_csv(index=False) if isinstance(read, pd.DataFrame) else repr(read)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"content": encoder.content, "read": digest, "version": KINDS[name].version}


def main(names: Sequence[str]) -> int:
    """Compute and store the reports of these names, or every one."""
    from selfattn import load_encoder

    encoder = load_encoder(device="cpu")
    for name in names or KINDS:
        kind = KINDS[name]
        read = kind.reads()
        report = kind.make(encoder, read, progress=lambda at, of, name=name: print(f"\r{name} {at} of {of} ", end=""))
        store(name, encoder, read, report)
        print(f"\r{name}: stored in {FOLDER / name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
