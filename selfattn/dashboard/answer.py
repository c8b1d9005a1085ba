"""The answer of a pair, from the cache: what is measured once, for every page, and when its heads are run one by one."""

import functools
from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from typing import TypeVar

import pandas as pd
import streamlit as st
from torch import Tensor

from selfattn.analysis.hiding import HeadsOfWord, HiddenPair, heads_of_word
from selfattn.analysis.sense_means import SenseMeans, last_units, rows_of, sense_means, within_sense
from selfattn.dashboard import session
from selfattn.dashboard.cache import cached, encoder_key, is_cached
from selfattn.dashboard.choice import Pair
from selfattn.dashboard.compute_again import labelled, stored_report
from selfattn.dashboard.figures import this_page
from selfattn.dashboard.queue import alone
from selfattn.encoders.capture import Hide
from selfattn.encoders.encoder import Encoder, Progress
from selfattn.encoders.placed_word import PlacedWord
from selfattn.export.notebook_lines import LABELLED, OWN_TABLE, SAID
from selfattn.senses import HiddenWordsReport
from selfattn.stored_reports import AllSenseMeans
from selfattn.views.two_sentences import WordInTwoSentences, leading_words, measured, put_together
from selfattn.words import fold

T = TypeVar("T")
# Tokens of a sentence: up to so many its words are hidden in less time than others would wait for costly work.
SHORT = 32
SENSES, SENTENCES = "senses", "sentences"  # between which a word's way lies
NAMED = SAID["way"]


def answer_of(encoder: Encoder, pair: Pair, way: str = SENSES) -> WordInTwoSentences:
    """The pair's answer. The heads of its words are by gradient until `complete` has run them: they take most of the time."""
    found = hidden_of(encoder, pair, way)
    other = hidden_of(encoder, pair, SENSES) if way == SENTENCES and between_senses(encoder, pair) else None
    leading = leading_words(found)
    wanted = dict.fromkeys([*leading, *session.RUN.get().get(_key(encoder, pair, way), ())])
    heads = [_heads(encoder, pair, found, way, at, run=at not in leading) for at in wanted]
    told, exact = _told(pair.word), tuple(each.exact for each in heads)
    key = ("view", pair.key, way, told, exact, tuple(wanted))
    many = _over_many(encoder) if found.senses is not None else None
    return cached(
        encoder,
        key,
        lambda _: put_together(encoder, found, heads, over_many=many, labelled=bool(told[1]), between_senses=other),
    )


def complete(encoder: Encoder, pair: Pair, way: str) -> bool:
    """Run the heads of the leading words where nobody has; whether there were such, the first time that it is asked for.

    Not while others wait: in a class it takes most of the time that all have, and the map says that it is by gradient.
    """
    found, key = hidden_of(encoder, pair, way), _key(encoder, pair, way)
    missing = [at for at in leading_words(found) if not _heads(encoder, pair, found, way, at, run=False).exact]
    if not missing or not _can(encoder) or session.COMPLETED.get() == key or not alone():
        return False
    for at in missing:
        _heads(encoder, pair, found, way, at, run=True)
    session.COMPLETED.set(key)
    return True


def run_heads_of(encoder: Encoder, pair: Pair, way: str, at: tuple[int, int]) -> None:
    """From now on this word's heads are run, too."""
    key, run = _key(encoder, pair, way), session.RUN.get()
    if at not in run.get(key, ()):
        session.RUN.set({key: (*run.get(key, ()), at)})


def between_senses(encoder: Encoder, pair: Pair) -> bool:
    """Whether shares are of the way between the word's senses: they are known, and both sentences fit one."""
    return means_of_senses(encoder, pair.word) is not None and hidden_of(encoder, pair, SENSES).senses is not None


def copied_senses(encoder: Encoder, pair: Pair, way: str | None) -> str:
    """Of which labelled sentences the word's senses are, in "Copy as Python"; "" where the way lies between the sentences."""
    if way == SENTENCES or not between_senses(encoder, pair):
        return ""
    return LABELLED if _own_rows(pair.word).empty else OWN_TABLE


def labelled_rows(word: str) -> pd.DataFrame:
    """The labelled sentences of a word: the visitor's own where there are such, else the built-in ones."""
    own = _own_rows(word)
    return _built_in(fold(word)) if own.empty else own


def means_of_senses(encoder: Encoder, word: str) -> SenseMeans | None:
    """Where the word's senses lie; None where it has no labelled sentences, or too few can be used."""
    rows = labelled_rows(word)
    if rows.empty or encoder.hide_reason:
        return None
    if _own_rows(word).empty:
        kept = stored_report(AllSenseMeans, encoder)
        if kept is not None:
            key = ("stored means", fold(word))
            return cached(encoder, key, lambda _: kept.report.of(word, encoder, labelled()))

    def make(_: object) -> SenseMeans | None:
        try:
            return sense_means(encoder, rows, word)
        except ValueError:
            return None

    return _shown_above(encoder, ("sense means", _told(word)), make, "Where the senses lie ...")


def beside_its_sense(encoder: Encoder, pair: Pair) -> tuple[str, Tensor] | None:
    """`within_sense` of A's word; None where its senses, or A's, aren't known."""
    means = means_of_senses(encoder, pair.word)
    if means is None:
        return None

    def units(encoder: Encoder, words: Sequence[PlacedWord]) -> Tensor:
        key = ("last units", *(word.key for word in words))  # whichever A is
        return _shown_above(encoder, key, lambda _: last_units(encoder, words), "The sentences of A's sense ...")

    told = _told(pair.word)
    rows = cached(encoder, ("rows of", told), lambda _: rows_of(encoder, labelled_rows(pair.word), pair.word))
    key = ("within sense", told, pair.first.key)
    return cached(encoder, key, lambda _: within_sense(encoder, rows, means, pair.first, units))


def _own_rows(word: str) -> pd.DataFrame:
    """Of the visitor's own table, where there is one with senses."""
    _, table, *_ = session.TABLE_READ.get()
    usable = table is not None and {"sentence", "word", "sense"} <= {*table}
    return _rows_of(table, word) if usable else labelled().iloc[:0]


@functools.lru_cache
def _built_in(word: str) -> pd.DataFrame:
    return _rows_of(labelled(), word)


def _rows_of(table: pd.DataFrame, word: str) -> pd.DataFrame:
    return table[[isinstance(each, str) and fold(each.strip()) == fold(word) for each in table["word"]]]


def _told(word: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """What the labels of a word say: results about them are kept by it."""
    own = _own_rows(word)
    return _built_in_labels(fold(word)) if own.empty else _labels(word, own)


@functools.lru_cache
def _built_in_labels(word: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    return _labels(word, _built_in(word))  # asked for some twenty times a rerun


def _labels(word: str, rows: pd.DataFrame) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    return fold(word), tuple(rows["sentence"]), tuple(rows["sense"])


def _key(encoder: Encoder, pair: Pair, way: str) -> tuple:
    return (encoder_key(encoder), pair.key, way)


def hidden_of(encoder: Encoder, pair: Pair, way: str = SENSES) -> HiddenPair:
    """The pair with each other word hidden in turn: how far each moves the chosen one."""
    means = means_of_senses(encoder, pair.word) if way == SENSES else None
    told = None if means is None else _told(pair.word)
    make = lambda progress: measured(encoder, *pair.with_control, means, progress, _changed)  # noqa: E731
    short = all(len(side.sentence.tokens) <= SHORT for _, side in pair.sides)
    return _shown_above(encoder, ("hidden", pair.key, told), make, "Hiding each other word ...", costly=not short)


def _changed(encoder: Encoder, word: PlacedWord, hidden: Sequence[Sequence[Hide]], layers: bool) -> Tensor:
    """`Encoder.changed_vectors`, kept by the sentence: a visitor who types one anew leaves the others as they are."""
    key = ("with hidden", word.key, tuple(each.keys for (each,) in hidden), layers)
    return cached(encoder, key, lambda _: encoder.changed_vectors(word, hidden=hidden, layers=layers))


def _heads(encoder: Encoder, pair: Pair, found: HiddenPair, way: str, at: tuple[int, int], run: bool) -> HeadsOfWord:
    """A word's heads, run where that has been done, or is asked for."""
    told = None if found.senses is None else _told(pair.word)
    key, (side, number) = ("heads of", pair.key, told, at), at
    measured = _can(encoder) and bool(found.share[side][number].isfinite())
    if measured and (run or is_cached(encoder, key)):
        make = lambda progress: heads_of_word(encoder, found, *at, exact=True, progress=progress)  # noqa: E731
        return _shown_above(encoder, key, make, f'Hiding "{found.words[side][number].label}" in each head alone ...')
    return heads_of_word(encoder, found, *at, exact=False)


def _shown_above(encoder: Encoder, key: Hashable, make: Callable[[Progress], T], title: str, costly: bool = True) -> T:
    """`cached`, its progress above all else, where it moves nothing; what is known takes no place."""
    news = this_page().news
    with nullcontext() if news is st else news:  # without the frame it stands where it is
        said = "" if is_cached(encoder, key) else title
        return cached(encoder, key, make, said, costly)


def _can(encoder: Encoder) -> bool:
    return not (encoder.hide_reason or encoder.one_head_reason)


def _over_many(encoder: Encoder) -> HiddenWordsReport | None:
    """What hiding words tells over the built-in sentences, where this encoder was asked."""
    kept = stored_report(HiddenWordsReport, encoder)
    return kept.report if kept else None
