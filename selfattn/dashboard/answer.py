"""Measure how far a word's vector moves if other words are hidden, and cache the results for all pages."""

import functools
import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
from torch import Tensor

from selfattn.analysis.hiding import HeadsOfWord, HiddenPair, heads_of_word, hidden_by_head, with_heads
from selfattn.analysis.sense_means import SenseMeans, last_units, rows_of, sense_means, within_sense
from selfattn.dashboard import session
from selfattn.dashboard.cache import cached, encoder_key, is_cached
from selfattn.dashboard.choice import Pair
from selfattn.dashboard.copy_as_python import LABELLED, OWN_TABLE
from selfattn.dashboard.figures import this_page
from selfattn.dashboard.reports import labelled, stored_report
from selfattn.encoders.capture import Head, Hide
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.placed_word import PlacedWord
from selfattn.panel import Panel
from selfattn.senses import HeadProfiles, HiddenWordsReport
from selfattn.stored_reports import AllSenseMeans
from selfattn.views.finding import leading_words
from selfattn.views.main_view import first_head, measured, put_together
from selfattn.words import fold

Hidden = tuple[int | None, int | None]  # the index of the hidden word in A and in B
# In sentences of at most this many tokens, hiding each word in turn is fast.
SHORT = 32
SOON = 0.4  # seconds of work until the page shows progress
SENSES, SENTENCES = "senses", "sentences"  # the distance is measured between senses or between sentences
NAMED = {SENSES: "between the senses", SENTENCES: "between the sentences"}


class Labels(NamedTuple):
    """Sentences labelled with a word's sense, from the visitor's table or else the built-in table."""

    key: tuple[str, str]  # cache key: the word, and the digest of the visitor's table
    rows: pd.DataFrame
    own: bool  # True for the visitor's table


@dataclass(frozen=True, eq=False)
class Answer:
    """The measured moves of the chosen word's vector in sentences A and B, with one other word hidden at a time."""

    pair: Pair
    way: str  # SENSES or SENTENCES
    labels: Labels
    means: SenseMeans | None  # None if `way` is SENTENCES
    found: HiddenPair  # without the effects in single heads
    key: tuple[Hashable, ...]  # cache key: encoder, pair and way


def answer_of(encoder: Encoder, pair: Pair, way: str = SENSES) -> Answer:
    """Measure how far the chosen word's vector moves, in each sentence, if one other word at a time is hidden from it."""
    labels = labels_of(pair.word)
    means = means_of_senses(encoder, labels) if way == SENSES else None
    key = ("hidden", pair.key, means and labels.key)
    how: dict[str, Any] = {"heads": False, "changed": _changed, "by_gradient": _by_gradient}
    make = lambda progress: measured(encoder, *pair, means, progress, **how)  # noqa: E731
    short = max(len(side.sentence.tokens) for side in (pair.first, pair.second)) <= SHORT
    found = cached(encoder, key, make, "Hiding one word at a time ...", not short, this_page().news, SOON)
    return Answer(pair, way, labels, means, found, (encoder_key(encoder), pair.key, way))


def is_answered(encoder: Encoder, pair: Pair) -> bool:
    """Return True if the effects of hiding words in the pair's sentences are cached."""
    labels = labels_of(pair.word)
    return any(is_cached(encoder, ("hidden", pair.key, between)) for between in (labels.key, None))


def found_with_heads(encoder: Encoder, answer: Answer) -> HiddenPair:
    """Return `answer.found`, with gradient estimates of the effects of hiding a word in one head at a time."""
    if encoder.hide_reason:
        return answer.found
    key = ("with heads", answer.key, answer.found.senses and answer.labels.key)
    return cached(encoder, key, lambda _: with_heads(encoder, answer.found, _by_gradient))


def panel_of(
    encoder: Encoder, answer: Answer, *, heads: bool = True, hidden: Hidden = (None, None), guess: bool = False
) -> Panel:
    """Return the main view's panel.

    heads: True for a panel with the map of heads. guess: True to let the visitor guess the answer.
    hidden: the words hidden in sentences A and B. For a word that isn't in `leading_words`, the exact effects of
        hiding it in one head at a time are computed, if possible.
    """
    found, leading = answer.found, leading_words(answer.found)
    wanted = dict.fromkeys([*leading, *((side, at) for side, at in enumerate(hidden) if at is not None)])
    of_words = [_heads_of_word(encoder, answer, at, run=at not in leading) for at in wanted] if heads else None
    # The stored report is about the built-in labelled sentences, so it isn't shown if the visitor's own are used.
    many = None if answer.labels.own else stored_report(HiddenWordsReport, encoder)
    profiles = stored_report(HeadProfiles, encoder)
    exact = of_words and tuple((at, each.exact) for at, each in zip(wanted, of_words))
    key = ("panel", answer.key, answer.labels.key, exact, many is not None, guess)
    return cached(
        encoder,
        key,
        lambda _: put_together(
            encoder, found_with_heads(encoder, answer) if heads else found, of_words,
            means=None if found.senses is None else answer.means, over_many=many and many.report,
            profiles=profiles and profiles.report, guess=guess,
        ),
    )  # fmt: skip


def leading_head_of(encoder: Encoder, answer: Answer) -> Head:
    """Return the head to show until the visitor chooses one."""

    def make(_: object) -> Head:
        found = found_with_heads(encoder, answer)
        leading = [heads_of_word(encoder, found, *at, exact=False) for at in leading_words(found)]
        return first_head(encoder, found, leading)

    return cached(encoder, ("leading head", answer.key, answer.found.senses and answer.labels.key), make)


def complete(encoder: Encoder, answer: Answer) -> None:
    """For the word with the largest effect in each sentence, compute the exact effect of hiding it in one head at a time."""
    for at in leading_words(answer.found):
        _heads_of_word(encoder, answer, at, run=True)


def copied_senses(answer: Answer) -> str:
    """Return the lines of "Copy as Python" that set `senses`."""
    if answer.found.senses is None:
        return "senses = None"
    return OWN_TABLE if answer.labels.own else LABELLED


def labels_of(word: str) -> Labels:
    """Return a word's labelled sentences."""
    _, table, *more = session.TABLE_READ.get()
    if table is not None and {"sentence", "word", "sense"} <= {*table}:
        own = table[[isinstance(each, str) and fold(each.strip()) == fold(word) for each in table["word"]]]
        if not own.empty:
            return Labels((fold(word), more[-1]), own, True)
    return Labels((fold(word), ""), _built_in().get(fold(word), labelled().iloc[:0]), False)


@functools.cache
def _built_in() -> dict[str, pd.DataFrame]:
    rows = labelled()
    return dict(iter(rows.groupby(rows["word"].str.strip().map(fold), sort=False)))


def means_of_senses(encoder: Encoder, labels: Labels) -> SenseMeans | None:
    """Return the mean vector of each sense of the word; None if too few sentences are labelled or words can't be hidden."""
    if labels.rows.empty or encoder.hide_reason:
        return None
    word = labels.key[0]
    if not labels.own and (kept := stored_report(AllSenseMeans, encoder)):
        return cached(encoder, ("stored means", word), lambda _: kept.report.of(word, encoder, labelled()))

    def make(_: object) -> SenseMeans | None:
        try:
            return sense_means(encoder, labels.rows, word)
        except ValueError:
            return None

    return cached(
        encoder,
        ("sense means", labels.key),
        make,
        "Computing the mean vector of each sense ...",
        True,
        this_page().news,
    )


def beside_its_sense(encoder: Encoder, answer: Answer) -> tuple[str, Tensor] | None:
    """Return the word's sense in A, and the cosines of its vector in A with its vectors in sentences labelled with this sense.

    None: the senses are unknown.
    """
    first, labels, news = answer.pair.first, answer.labels, this_page().news
    means = means_of_senses(encoder, labels)
    if means is None:
        return None

    def units(encoder: Encoder, words: Sequence[PlacedWord]) -> Tensor:
        key = ("last units", *(word.key for word in words))  # the same for every A
        return cached(
            encoder,
            key,
            lambda _: last_units(encoder, words),
            "Encoding labelled sentences in which the word has the same sense as in A ...",
            True,
            news,
        )

    rows = cached(encoder, ("rows of", labels.key), lambda _: rows_of(encoder, labels.rows, labels.key[0]))
    key = ("within sense", labels.key, first.key)
    return cached(encoder, key, lambda _: within_sense(encoder, rows, means, first, units))


def _changed(encoder: Encoder, word: PlacedWord, hidden: Sequence[Sequence[Hide]], **more: Any) -> Tensor:
    key = ("with hidden", word.key, repr(hidden), more.get("layers", False))
    return cached(encoder, key, lambda _: encoder.changed_vectors(word, hidden=hidden, **more))


def _by_gradient(encoder: Encoder, words: Sequence[PlacedWord], targets: Sequence[Any]) -> list[Tensor]:
    """Return what `hidden_by_head` returns, cached for each sentence and target."""
    keys = [(word.key, hashlib.sha256(target.way.numpy()).hexdigest()) for word, target in zip(words, targets)]
    make = lambda word, target, _: hidden_by_head(encoder, [word], [target])[0]  # noqa: E731
    return [
        cached(encoder, ("by gradient", *key), functools.partial(make, *each))
        for key, *each in zip(keys, words, targets)
    ]


def _heads_of_word(encoder: Encoder, answer: Answer, at: tuple[int, int], run: bool) -> HeadsOfWord:
    """Return the effects of hiding a word in one head at a time. run: True for exact effects, if possible."""
    found, (side, number) = found_with_heads(encoder, answer), at
    key = ("heads of", answer.pair.key, found.senses and answer.labels.key, at)
    can = not encoder.one_head_reason and bool(found.share[side][number].isfinite())
    if not can or not (run or is_cached(encoder, key)):
        return heads_of_word(encoder, found, *at, exact=False)
    make = lambda progress: heads_of_word(encoder, found, *at, exact=True, progress=progress, changed=_changed)  # noqa: E731
    title = f'Hiding "{found.words[side][number].label}" in one head at a time ...'
    return cached(encoder, key, make, title, True, this_page().news, SOON)
