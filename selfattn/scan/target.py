"""Measure how words and heads change a score (`selfattn scan --target`)."""

import json
from pathlib import Path

import pandas as pd

from selfattn.analysis.targets import Asked, class_score, similarity
from selfattn.encoders.classification import load_class_head
from selfattn.encoders.encoder import Encoder, Progress
from selfattn.encoders.heads_on_top import NoHead
from selfattn.encoders.pooling import NoPooling, load_pooling
from selfattn.scan.job import Job
from selfattn.scan.output import Counts, ScanError, new_file
from selfattn.scan.tables import InputError
from selfattn.senses import over_sentences
from selfattn.tidy_tables import csv_text


def run_target(job: Job, target: str, progress: Progress) -> Counts:
    """Measure how words and heads change the score `target` of each text, and write tables into a new folder.

    progress(done, total) counts each text twice: once for its words, once for its heads. Raises InputError, ScanError, LoadError.
    """
    output = Path(job.output)
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise ScanError(f"{output} is not an empty folder. Choose a new folder, because --target can't continue a run.")
    rows = [row for table in job.tables(searched=True) for row in table]
    encoder = job.load()
    usable = {at: (row.sentence, row.pair) for at, row in enumerate(rows) if not row.problem}
    try:
        frame = pd.DataFrame.from_dict(usable, "index", columns=["sentence", "pair"], dtype=object)
        report = over_sentences(encoder, frame, _asked(encoder, target), progress=progress)
    except (NoHead, NoPooling, ValueError) as error:
        raise InputError(str(error)) from None
    broken = {at: row.problem for at, row in enumerate(rows) if row.problem}
    broken |= dict(zip(report.rejected["row"], report.rejected["reason"]))
    places = [(rows[at].file, rows[at].line, broken[at]) for at in sorted(broken)]
    rejects = pd.DataFrame(places, columns=["file", "line", "reason"])
    output.mkdir(parents=True, exist_ok=True)
    tables = {"words": report.words, "heads": report.heads, "sentences": report.sentences, "rejects": rejects}
    about = {"target": target, "encoder": encoder.name, "sentences": len(report.sentences), "note": report.note}
    about |= {name: getattr(encoder, name) for name in ("revision", "digest", "content", "dtype")}
    written = {f"{name}.csv": csv_text(table) for name, table in tables.items()}
    written["target.json"] = json.dumps(about, indent=1)
    try:
        for name, text in written.items():
            with new_file(output / name) as stream:
                stream.write(text.encode("utf-8", "backslashreplace"))
    except ScanError:
        for name in written:
            (output / name).unlink(missing_ok=True)
        raise
    return Counts(len(rows), len(broken), len(report.sentences))


def _asked(encoder: Encoder, target: str) -> Asked:
    kind, _, value = target.partition("=")
    if kind == "class" and value:
        return class_score(load_class_head(encoder), value)
    if kind == "similarity" and value:
        return similarity(encoder, load_pooling(encoder), value)
    raise InputError(f"--target must be class=NAME or similarity=TEXT, got {target[:80]!r}.")
