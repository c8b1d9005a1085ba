"""Measure and cache a pair's answer once for all pages; run its heads when no other page is running."""

import functools
import hashlib
from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from typing import Any, TypeVar

import pandas as pd
import streamlit as st
from torch import Tensor

from selfattn.analysis.hiding import HeadsOfWord, HiddenPair, heads_of_word, hidden_by_head
from selfattn.analysis.sense_means import SenseMeans, last_units, rows_of, sense_means, within_sense
from selfattn.dashboard import session
from selfattn.dashboard.cache import cached, encoder_key, hides_key, is_cached
from selfattn.dashboard.choice import Pair
from selfattn.dashboard.copy_as_python import LABELLED, OWN_TABLE
from selfattn.dashboard.figures import this_page
from selfattn.dashboard.queue import alone
from selfattn.dashboard.reports import labelled, stored_report
from selfattn.encoders.capture import Head, Hide
from selfattn.encoders.encoder import Encoder, Progress
from selfattn.encoders.placed_word import PlacedWord
from selfattn.panel import Panel
from selfattn.senses import HeadProfiles, HiddenWordsReport
from selfattn.stored_reports import AllSenseMeans
from selfattn.views.main_view import leading_words, measured, put_together
from selfattn.words import fold

T = TypeVar("T")
Hidden = tuple[int | None, int | None]  # the number of the hidden word in A and in B
# Tokens of a short sentence, whose words can be hidden in less time than it takes to wait for a place for costly work.
SHORT = 32
SENSES, SENTENCES = "senses", "sentences"  # the ends of a word's way
NAMED = {SENSES: "between the senses", SENTENCES: "between the sentences"}


def panel_of(
    encoder: Encoder,
    pair: Pair,
    way: str = SENSES,
    *,
    hidden: Hidden = (None, None),
    guess: bool = False,
) -> Panel:
    """Return the pair's panel. Until `complete` has run the heads, which takes longest, their shares are by gradient.

    hidden: more words whose heads are run. guess: as in `put_together`.
    """
    found, means = hidden_of(encoder, pair, way), means_of_senses(encoder, pair.word) if way == SENSES else None
    leading = leading_words(found)
    wanted = dict.fromkeys([*leading, *((side, at) for side, at in enumerate(hidden) if at is not None)])
    heads = [_heads_of_word(encoder, pair, found, way, at, run=at not in leading) for at in wanted]
    many, profiles = over_many(encoder, pair.word), stored_report(HeadProfiles, encoder)
    exact = tuple(each.exact for each in heads)
    key = ("panel", pair.key, way, labels_key(encoder, pair.word), (*wanted,), exact, many is not None, guess)
    return cached(
        encoder,
        key,
        lambda _: put_together(
            encoder, found, heads, means=None if found.senses is None else means, over_many=many,
            profiles=profiles and profiles.report, guess=guess,
        ),
    )  # fmt: skip


def leading_head_of(encoder: Encoder, panel: Panel) -> Head:
    """Return the head that a pair's figure shows first."""
    return encoder.all_heads[panel.live.data["chosen"]["head"] if panel.live else 0]


def complete(encoder: Encoder, pair: Pair, way: str) -> bool:
    """Run the leading words' heads that haven't been run yet. Return True if any were run.

    While other pages run, do nothing: in a class, running heads would use most of the processor time. The map of heads by
    gradient stays, and says so.
    """
    found = hidden_of(encoder, pair, way)
    missing = [at for at in leading_words(found) if not _heads_of_word(encoder, pair, found, way, at, run=False).exact]
    if not missing or encoder.one_head_reason or not alone():
        return False
    for at in missing:
        _heads_of_word(encoder, pair, found, way, at, run=True)
    return True


def between_senses(encoder: Encoder, pair: Pair) -> bool:
    """True if shares can be measured between senses: the word's senses are known, and each sentence fits one of them."""
    return means_of_senses(encoder, pair.word) is not None and hidden_of(encoder, pair, SENSES).senses is not None


def copied_senses(encoder: Encoder, pair: Pair, way: str = SENSES) -> str:
    """Lines for "Copy as Python" that set `senses` to the word's labelled sentences, or to None between the sentences."""
    if way == SENTENCES or not between_senses(encoder, pair):
        return "senses = None"
    return LABELLED if _own_rows(pair.word) is None else OWN_TABLE


def labelled_rows(word: str) -> pd.DataFrame:
    """The labelled sentences of a word, from the visitor's table if it has some, else the built-in sentences."""
    own = _own_rows(word)
    if own is None:
        own = _built_in().get(fold(word))
    return labelled().iloc[:0] if own is None else own


def labels_key(encoder: Encoder, word: str) -> Hashable:
    """Cache key: the word's labelled sentences and senses."""
    if _own_rows(word) is None:
        return fold(word), stored_report(AllSenseMeans, encoder) is not None
    _, _, _, digest = session.TABLE_READ.get()
    return fold(word), digest


def means_of_senses(encoder: Encoder, word: str) -> SenseMeans | None:
    """Return the means of the word's senses; None if there are no or too few usable labelled sentences, or if no word
    can be hidden in this encoder.
    """
    rows = labelled_rows(word)
    if rows.empty or encoder.hide_reason:
        return None
    if _own_rows(word) is None:
        kept = stored_report(AllSenseMeans, encoder)
        if kept is not None:
            key = ("stored means", fold(word))
            return cached(encoder, key, lambda _: kept.report.of(word, encoder, labelled()))

    def make(_: object) -> SenseMeans | None:
        try:
            return sense_means(encoder, rows, word)
        except ValueError:
            return None

    return _shown_above(encoder, ("sense means", labels_key(encoder, word)), make, "Where the senses lie ...")


def beside_its_sense(encoder: Encoder, pair: Pair) -> tuple[str, Tensor] | None:
    """Return `within_sense` of A's word; None if the word's senses, or the sense of A, aren't known."""
    means = means_of_senses(encoder, pair.word)
    if means is None:
        return None

    def units(encoder: Encoder, words: Sequence[PlacedWord]) -> Tensor:
        key = ("last units", *(word.key for word in words))  # the same for every A
        return _shown_above(encoder, key, lambda _: last_units(encoder, words), "The sentences of A's sense ...")

    labels = labels_key(encoder, pair.word)
    rows = cached(encoder, ("rows of", labels), lambda _: rows_of(encoder, labelled_rows(pair.word), pair.word))
    key = ("within sense", labels, pair.first.key)
    return cached(encoder, key, lambda _: within_sense(encoder, rows, means, pair.first, units))


def _own_rows(word: str) -> pd.DataFrame | None:
    """The rows about a word in the visitor's table; None if there are none, or if the table has no senses."""
    _, table, *_ = session.TABLE_READ.get()
    if table is None or not {"sentence", "word", "sense"} <= {*table}:
        return None
    rows = table[[isinstance(each, str) and fold(each.strip()) == fold(word) for each in table["word"]]]
    return None if rows.empty else rows


@functools.cache
def _built_in() -> dict[str, pd.DataFrame]:
    """The built-in labelled sentences by their words."""
    rows = labelled()
    return dict(iter(rows.groupby(rows["word"].str.strip().map(fold), sort=False)))


def answer_key(encoder: Encoder, pair: Pair, way: str) -> Hashable:
    """Return the key that identifies a pair's answer."""
    return encoder_key(encoder), pair.key, way


def hidden_of(encoder: Encoder, pair: Pair, way: str = SENSES) -> HiddenPair:
    """Hide each other word of the pair in turn, and measure how far the chosen word moves."""
    means = means_of_senses(encoder, pair.word) if way == SENSES else None
    labels = None if means is None else labels_key(encoder, pair.word)
    make = lambda progress: measured(encoder, *pair, means, progress, changed=_changed, by_gradient=_by_gradient)  # noqa: E731
    short = max(len(side.sentence.tokens) for side in (pair.first, pair.second)) <= SHORT
    return _shown_above(encoder, ("hidden", pair.key, labels), make, "Hiding each other word ...", costly=not short)


def _changed(encoder: Encoder, word: PlacedWord, hidden: Sequence[Sequence[Hide]], **more: Any) -> Tensor:
    """Cache `Encoder.changed_vectors` by sentence, so that changing one sentence keeps the results of the others."""
    key = ("with hidden", word.key, tuple(map(hides_key, hidden)), more.get("layers", False))
    return cached(encoder, key, lambda _: encoder.changed_vectors(word, hidden=hidden, **more))


def _by_gradient(encoder: Encoder, words: Sequence[PlacedWord], targets: Sequence[Any]) -> list[Tensor]:
    """Cache `hidden_by_head` by sentence and way, for the same reason."""

    def one(word: PlacedWord, target: Any) -> Tensor:
        way = hashlib.sha256(target.way.numpy().tobytes()).hexdigest()
        return cached(encoder, ("by gradient", word.key, way), lambda _: hidden_by_head(encoder, [word], [target])[0])

    return list(map(one, words, targets))


def _heads_of_word(
    encoder: Encoder, pair: Pair, found: HiddenPair, way: str, at: tuple[int, int], run: bool
) -> HeadsOfWord:
    """Return the shares of a word's heads: exact if `run` is set or the heads were run before, else by gradient."""
    labels = None if found.senses is None else labels_key(encoder, pair.word)
    key, (side, number) = ("heads of", pair.key, labels, at), at
    measured = not encoder.one_head_reason and bool(found.share[side][number].isfinite())
    if measured and (run or is_cached(encoder, key)):
        make = lambda progress: heads_of_word(encoder, found, *at, exact=True, progress=progress, changed=_changed)  # noqa: E731
        return _shown_above(encoder, key, make, f'Hiding "{found.words[side][number].label}" in each head alone ...')
    return heads_of_word(encoder, found, *at, exact=False)


def _shown_above(encoder: Encoder, key: Hashable, make: Callable[[Progress], T], title: str, costly: bool = True) -> T:
    """Call `cached` and show its progress above the page, where it moves nothing. For a cached result show no progress."""
    news = this_page().news
    with nullcontext() if news is st else news:  # without the frame, show it in place
        said = "" if is_cached(encoder, key) else title
        return cached(encoder, key, make, said, costly)


def over_many(encoder: Encoder, word: str) -> HiddenWordsReport | None:
    """Return the report on hiding words in the built-in sentences; None if not stored, or for a word of the visitor's table."""
    kept = stored_report(HiddenWordsReport, encoder) if _own_rows(word) is None else None
    return kept.report if kept else None
