"""Split a table of labelled sentences into usable and rejected rows."""

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

import pandas as pd

from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import OutOfMemory, TextError
from selfattn.encoders.placed_word import PlacedWord
from selfattn.words import fold

PER_SENSE = 2  # if one sentence is left out, another one must have its sense

P, T = ParamSpec("P"), TypeVar("T")
# If True, each row's text is encoded, and rows whose text gives NaN are rejected.
_run_each: ContextVar[bool] = ContextVar("run_each", default=False)


def rejecting_what_breaks_down(report: Callable[P, T]) -> Callable[P, T]:
    """Return the function `report`, changed to reject rows whose text gives NaN in the encoder.

    If a text gives NaN, `report` runs a second time, and checks each text.
    """

    @wraps(report)
    def made(*arguments: P.args, **options: P.kwargs) -> T:
        try:
            return report(*arguments, **options)
        except TextError as error:
            if isinstance(error, OutOfMemory):
                raise
        before = _run_each.set(True)
        try:
            return report(*arguments, **options)
        finally:
            _run_each.reset(before)

    return made


def check_rows(
    encoder: Encoder, frame: pd.DataFrame, per_sense: int = PER_SENSE, most: int | None = None, others: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split a table (columns sentence, word, sense) into usable and rejected rows.

    Usable rows have a lower-case `word` and a new column `placed` (PlacedWord), rejected rows a new column `reason`.
    per_sense: least number of sentences of each sense. most: largest number of usable rows of each word.
    others: least number of words in a sentence besides `word`, not counting punctuation.
    Raises ValueError if a column is missing or repeated.
    """
    wanted = ["sentence", "word", "sense"]
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        raise ValueError(
            f"Expected the columns {', '.join(wanted)}, got {', '.join(map(str, frame))}. Missing: {', '.join(missing)}."
        )
    if not frame[wanted].columns.is_unique:
        twice = frame[wanted].columns.value_counts()
        raise ValueError(f"Expected one column {twice.index[0]}, got {twice.iloc[0]}. Rename all but one.")
    frame = frame.reset_index(drop=True) if not frame.index.is_unique else frame
    reasons: dict[object, str] = {}
    placed: dict[object, PlacedWord] = {}
    seen: set[tuple[str, str]] = set()
    for index, row in zip(frame.index, frame[wanted].itertuples(index=False)):
        try:
            placed[index] = _placed(encoder, row, seen, others)
        except TextError as error:
            reasons[index] = str(error)
    usable = frame.loc[list(placed)].assign(
        word=[fold(word.strip()) for word in frame.loc[list(placed), "word"]],
        sense=[str(sense).strip() for sense in frame.loc[list(placed), "sense"]],
        placed=pd.Series(placed, dtype=object),
    )
    reasons |= _too_few_senses(usable, per_sense)
    if most is not None:
        reasons |= _too_many(usable[~usable.index.isin(list(reasons))], most)
    rejected = frame[frame.index.isin(list(reasons))]
    return usable[~usable.index.isin(list(reasons))], rejected.assign(reason=[reasons[i] for i in rejected.index])


def require_rows(encoder: Encoder, frame: pd.DataFrame, **needs: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the result of `check_rows`. Raises ValueError if no row is usable."""
    usable, rejected = check_rows(encoder, frame, **needs)
    if usable.empty:
        first = f" First reason: {rejected['reason'].iloc[0]}" if len(rejected) else ""
        raise ValueError(f"None of the {len(frame)} rows can be used.{first}")
    return usable, rejected


def named_rows(rejected: pd.DataFrame) -> pd.DataFrame:
    """Return the rejected rows. The first two columns are `row` (the index label) and `reason`."""
    others = rejected.columns.difference(["row", "reason"], sort=False)
    return rejected.assign(row=rejected.index)[["row", "reason", *others]]


def with_spans(usable: pd.DataFrame) -> pd.DataFrame:
    """Replace the column `placed` by two columns with the word's token span: `start`, `stop`."""
    words = [at.word for at in usable["placed"]]
    return usable.drop(columns="placed").assign(start=[w.start for w in words], stop=[w.stop for w in words])


def _placed(encoder: Encoder, row: tuple, seen: set[tuple[str, str]], others: int) -> PlacedWord:
    """Return the row's word as a `PlacedWord`. Raises TextError if the row must be rejected."""
    sentence, word = row[0], row[1]
    places = encoder.locate(sentence, word)
    if pd.isna(row[2]) or not str(row[2]).strip():
        raise TextError("The sense is missing. Every row needs a sense.")
    if len(places) > 1:
        raise TextError(f"{word!r} occurs {len(places)} times in the sentence. It must occur exactly once.")
    key = (fold(" ".join(sentence.split())), fold(word.strip()))
    if key in seen:
        raise TextError("An earlier row has the same sentence and word.")
    found = [word for word in places[0].others if not word.is_punctuation]
    if len(found) < others:
        raise TextError(f"Expected at least {others} words besides {word!r} in the sentence, got {len(found)}.")
    if _run_each.get():
        encoder.encode(places[0].sentence)
    seen.add(key)
    return places[0]


def _too_few_senses(usable: pd.DataFrame, per_sense: int) -> dict[object, str]:
    """Return, by index label, the reason to reject each row whose word has too few sentences or senses."""
    reasons = {}
    for (word, sense), rows in usable.groupby(["word", "sense"]):
        if len(rows) < per_sense:
            sentences = "one usable sentence" if len(rows) == 1 else f"{len(rows)} usable sentences"
            reasons |= dict.fromkeys(
                rows.index, f"{word!r} has {sentences} in the sense {sense!r}, expected at least {per_sense}."
            )
    left = usable.drop(index=list(reasons))
    for word, rows in left.groupby("word"):
        if rows["sense"].nunique() < 2:
            reasons |= dict.fromkeys(rows.index, f"{word!r} has no second sense with {per_sense} usable sentences.")
    return reasons


def _too_many(usable: pd.DataFrame, most: int) -> dict[object, str]:
    """Return the reason for rejecting each row beyond its sense's limit. The keys are index labels."""
    reasons = {}
    for (word, sense), rows in usable.groupby(["word", "sense"]):
        first = most // usable.loc[usable["word"] == word, "sense"].nunique()
        reason = (
            f"Only the first {first} sentences of {word!r} in the sense {sense!r} are used: "
            f"the limit is {most} sentences for all senses of a word together."
        )
        reasons |= dict.fromkeys(rows.index[first:], reason)
    return reasons
