"""Store an encoder's results on the built-in sentences.

`python -m selfattn.stored_reports [NAME ...] [--encoder FOLDER]` writes reports to selfattn/data/reports.
A report is a folder of compressed CSV tables and about.json.
"""

import argparse
import datetime
import gzip
import hashlib
import json
import os
import shutil
import sys
import tempfile
import warnings
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, Generic, TypeVar, final

import numpy as np
import pandas as pd
import torch

from selfattn import senses
from selfattn.analysis.sense_means import LabelledRow, SenseMeans, sense_means
from selfattn.analysis.usable_rows import named_rows, require_rows
from selfattn.encoders.encoder import Encoder, Progress, followed, silent
from selfattn.encoders.errors import brief
from selfattn.examples import PRONOUNS, PronounSentence, labelled_sentences
from selfattn.lessons.pronouns import PronounWeights, pronoun_rows, pronoun_weights
from selfattn.senses.telling_words import MOST, OTHERS, PER_SENSE, over_words
from selfattn.settings import Settings
from selfattn.words import fold

T = TypeVar("T")
FOLDER = Path(str(files("selfattn") / "data" / "reports"))
LIBRARIES = ("torch", "transformers", "numpy", "pandas")
DIGITS = "%.7g"
# `measured` takes the words in this order: first those whose sense is revealed best by one other word.
MOST_TELLING = (
    "trunk", "pitch", "seal", "light", "pitcher", "palm", "board", "star", "cabinet", "match", "temple",
    "bat", "bank", "spring", "ruler", "note", "fan", "jam", "organ", "port", "cell", "mouse",
    "miss", "bark", "pupil", "sentence", "club", "wave", "file", "plant", "deck", "ring",
)  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """A kind of stored report."""

    type: type  # a frozen dataclass of tables, arrays and plain values
    version: int  # increased when the method or the columns change
    reads: Callable[[], object]  # returns the sentences that the report is about
    make: Callable[..., object]  # make(encoder, sentences, progress=...) computes the report


@final
@dataclass(frozen=True, eq=False)
class Stored(Generic[T]):
    """A report and the date on which it was stored."""

    report: T
    date: str


@dataclass(frozen=True, eq=False)
class AllSenseMeans:
    """The mean vectors of the senses of all labelled words."""

    senses: pd.DataFrame  # word, sense; count, within: as in `SenseMeans`
    means: np.ndarray  # (len(senses), d_model)
    places: pd.DataFrame  # place: as in `LabelledRow`; index: row label of the sentence

    def of(self, word: str, encoder: Encoder, read: pd.DataFrame) -> SenseMeans:
        """Return the mean vectors of a word's senses.

        read: the labelled sentences. Raises ValueError if the word is labelled in none of them.
        """
        word = fold(word)
        lines, rows = self.senses["word"] == word, read[read["word"] == word]
        if rows.empty:
            raise ValueError(f"No labelled sentence has the word {word!r}, so there are no stored means of its senses.")
        return SenseMeans(
            word=word,
            senses=tuple(self.senses.loc[lines, "sense"]),
            means=torch.from_numpy(self.means[lines.to_numpy()]).double(),
            counts=tuple(self.senses.loc[lines, "count"]),
            within=float(self.senses.loc[lines, "within"].iloc[0]),
            rows={
                encoder.tokenize(sentence).ids: LabelledRow(sense, sentence, place)
                for sentence, sense, place in zip(
                    rows["sentence"], rows["sense"], self.places.loc[rows.index, "place"].tolist()
                )
            },
        )


def all_sense_means(encoder: Encoder, frame: pd.DataFrame, progress: Progress) -> AllSenseMeans:
    """Compute `sense_means` of every word. All rows of `frame` must be usable."""
    found = [sense_means(encoder, frame, word) for word in followed(sorted(set(frame["word"])), progress)]
    table = [(each.word, *sense, each.within) for each in found for sense in zip(each.senses, each.counts)]
    means = torch.cat([each.means for each in found]).numpy()
    places = {row.sentence: row.place for each in found for row in each.rows.values()}
    return AllSenseMeans(
        pd.DataFrame(table, columns=["word", "sense", "count", "within"]),
        means,
        pd.DataFrame({"place": frame["sentence"].map(places)}),
    )


def read_pronouns(encoder: Encoder, sentences: Sequence[PronounSentence], progress: Progress) -> PronounWeights:
    """Compute `pronoun_weights` of the sentences."""
    return pronoun_weights([pronoun_rows(encoder.encode(one.sentence), one) for one in followed(sentences, progress)])


KINDS = {
    "separation": Kind(senses.SeparationReport, 2, labelled_sentences, senses.separation),
    "sense_means": Kind(AllSenseMeans, 2, labelled_sentences, all_sense_means),
    "hidden_words": Kind(senses.HiddenWordsReport, 3, labelled_sentences, senses.hidden_words),
    "head_profiles": Kind(senses.HeadProfiles, 2, labelled_sentences, senses.head_profiles),
    "pronouns": Kind(PronounWeights, 1, lambda: PRONOUNS, read_pronouns),
    "unrelated_pairs": Kind(senses.UnrelatedPairs, 1, labelled_sentences, senses.unrelated_pairs),
}


def stored(name: str, encoder: Encoder, read: object, folder: Path | None = None) -> Stored[Any] | None:
    """Return the stored report, or None if it is missing, damaged or out of date.

    read: the sentences that the report is about.
    folder: where to look; by default among the shipped reports, then in the user's cache.
    """
    if folder is None:
        return stored(name, encoder, read, FOLDER) or stored(name, encoder, read, kept_folder())
    place = _place(name, encoder, folder) / "about.json"
    if encoder.dtype != "float32" or not place.is_file():
        return None
    try:
        about = json.loads(place.read_text("utf-8"))
        if {key: about[key] for key in ("content", "read", "version")} != _identity(name, encoder, read):
            return None
        return _read(name, place, about)
    except (OSError, EOFError, ValueError, TypeError, LookupError, zlib.error):  # a damaged file counts as missing
        return None


def shipped_of_others(name: str, encoder: Encoder, read: object) -> dict[str, Any]:
    """Return the shipped reports of the kind `name` on other encoders, keyed by the encoder's title."""
    found, identity = {}, _identity(name, encoder, read)
    for about in sorted(FOLDER.glob(f"*/{name}/about.json")):
        other = json.loads(about.read_text("utf-8"))
        if other["content"] != identity["content"] and all(other[key] == identity[key] for key in ("read", "version")):
            found[other["encoder"]] = _read(name, about, other).report
    return found


def _read(name: str, place: Path, about: dict[str, Any]) -> Stored[Any]:
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in about["values"].items()}
    for field in fields(KINDS[name].type):
        table = place.with_name(f"{field.name.strip('_')}.csv.gz")
        if field.name in about["arrays"]:
            shape, dtype = about["arrays"][field.name]
            values[field.name] = np.loadtxt(table, delimiter=",", ndmin=2).reshape(shape).astype(dtype)
        elif field.name not in values:
            as_layer = {"layer": lambda text: int(text) if text.isdecimal() else text}
            values[field.name] = pd.read_csv(table, index_col=0, converters=as_layer)
    return Stored(KINDS[name].type(**values), about["date"])


def store(name: str, encoder: Encoder, read: object, report: object, folder: Path | None = None) -> None:
    """Write a report atomically, by default to the folder of shipped reports."""
    place = _place(name, encoder, folder or FOLDER)
    place.parent.mkdir(parents=True, exist_ok=True)
    arrays, values = {}, {}
    with tempfile.TemporaryDirectory(dir=place.parent) as temporary:
        made = Path(temporary) / name
        made.mkdir()
        for field in fields(report):
            value = getattr(report, field.name)
            if not isinstance(value, pd.DataFrame | np.ndarray):
                values[field.name] = value
                continue
            with gzip.GzipFile(made / f"{field.name.strip('_')}.csv.gz", "wb", mtime=0) as table:
                if isinstance(value, pd.DataFrame):
                    value.to_csv(table, float_format=DIGITS, lineterminator="\n")
                else:
                    arrays[field.name] = [list(value.shape), str(value.dtype)]
                    np.savetxt(table, value.reshape(-1, value.shape[-1]), fmt=DIGITS, delimiter=",")
        about = {
            **_identity(name, encoder, read),
            "encoder": encoder.title,
            "date": datetime.date.today().isoformat(),
            "libraries": {library: version(library) for library in LIBRARIES},
            "values": values,
            "arrays": arrays,
        }
        (made / "about.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")
        shutil.rmtree(place, ignore_errors=True)
        made.rename(place)


def _place(name: str, encoder: Encoder, folder: Path) -> Path:
    return folder / encoder.content[:12] / name


def kept_folder() -> Path:
    """Return the folder SELFATTN_CACHE, or else selfattn's folder in the user's cache."""
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    return Settings.read().cache or Path(home) / "selfattn"


def measured(encoder: Encoder, progress: Progress = silent) -> senses.HiddenWordsReport:
    """Return the `hidden_words` report on the built-in sentences: the stored one, or else a new one.

    After a stop, the next call continues the measurement.
    progress: called as progress(done, total); may raise an exception to stop.
    Raises the same errors as `hidden_words`.
    """
    read = labelled_sentences()
    if found := stored("hidden_words", encoder, read):
        return found.report
    encoder.check_hideable()
    usable, rejected = require_rows(encoder, read, per_sense=PER_SENSE, most=MOST, others=OTHERS)
    folder, done, reports = _place("words", encoder, kept_folder()), 0, {}
    for word in (word for word in MOST_TELLING if word in set(usable["word"])):
        sentences = read[read["word"] == word]
        kept = stored("hidden_words", encoder, sentences, folder / word)
        if kept:
            reports[word] = kept.report
        else:
            reports[word] = senses.hidden_words(encoder, sentences, lambda at, _, n=done: progress(n + at, len(usable)))
            with suppress(OSError):  # if the disk is full, `_keep` warns later
                store("hidden_words", encoder, sentences, reports[word], folder / word)
        done += int((usable["word"] == word).sum())
    ordered = [reports[word] for word in sorted(reports)]
    left_out = [named_rows(rejected[~rejected["word"].isin(reports)]), *(each.rejected for each in ordered)]
    report = over_words(ordered, pd.concat(left_out), next((each.reason for each in ordered if each.reason), ""))
    _keep("hidden_words", encoder, read, report)
    shutil.rmtree(folder, ignore_errors=True)
    return report


def made_once(name: str, encoder: Encoder, progress: Progress = silent) -> Any:
    """Compute and return a report. If the encoder's dtype is float32, also store it in the user's cache."""
    read = KINDS[name].reads()
    report = KINDS[name].make(encoder, read, progress=progress)
    if encoder.dtype == "float32":
        _keep(name, encoder, read, report)
    return report


def _keep(name: str, encoder: Encoder, read: object, report: object) -> None:
    try:
        store(name, encoder, read, report, kept_folder())
    except OSError as error:
        reason = error.strerror or brief(error)
        warnings.warn(
            f"The report on {encoder.title} can't be stored: {reason}. Free some disk space, or set SELFATTN_CACHE to another "
            "folder.",
            stacklevel=3,
        )


def _identity(name: str, encoder: Encoder, read: object) -> dict[str, str | int]:
    text = read.to_csv(index=False) if isinstance(read, pd.DataFrame) else repr(read)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"content": encoder.content, "read": digest, "version": KINDS[name].version}


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute and store the reports that the command line names."""
    from selfattn import load_encoder

    parser = argparse.ArgumentParser(prog="python -m selfattn.stored_reports", description=__doc__.split("\n")[0])
    parser.add_argument("names", metavar="NAME", nargs="*", choices=[*KINDS, []], help=f"one of {', '.join(KINDS)}")
    parser.add_argument("--encoder", help="a folder or a Hub id (default: the bundled encoder)")
    options = parser.parse_args(arguments)
    encoder = load_encoder(options.encoder, device="cpu")
    for name in options.names or KINDS:
        kind = KINDS[name]
        read = kind.reads()
        report = kind.make(encoder, read, progress=lambda at, of, name=name: print(f"\r{name} {at} of {of} ", end=""))
        store(name, encoder, read, report)
        print(f"\r{name}: stored in {_place(name, encoder, FOLDER)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
