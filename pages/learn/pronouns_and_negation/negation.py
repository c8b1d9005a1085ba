"""Test whether a negated word attends to its negator, such as "not".

The weights in ILLUSTRATIVE_ROW are from a published lesson.
"""

import math
from collections.abc import Mapping

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from selfattn.charts.bars import bar_list
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached, cached_encode
from selfattn.dashboard.copy_as_python import load
from selfattn.dashboard.figures import this_page
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.examples import MOVIE, NEGATION_PAIRS, Negation
from selfattn.lessons.encoded_words import first_word, weight_on
from selfattn.views.lesson import drawing
from selfattn.words import split_words, to_groups

OPTIONS = (
    "yes, “amazing” gives “not” at most half as much weight as “good” does",
    "no, “amazing” gives “not” more than half as much weight as “good” does",
)
GOOD, AMAZING, NOT = 4, 10, 3  # indices of these words in MOVIE
# Invented weights from "good" to each word of MOVIE, copied from a published lesson
ILLUSTRATIVE_ROW = (0.01, 0.02, 0.03, 0.55, 0.10, 0.02, 0.05, 0.02, 0.03, 0.05, 0.11, 0.01)
POSITIVE, NEGATIVE = ("good", "amazing", "great"), ("bad", "boring", "awful")


def bag_of_words(text: str) -> tuple[int, int]:
    words = [word.lower() for word in split_words(text)]
    return sum(word in POSITIVE for word in words), sum(word in NEGATIVE for word in words)


def show(encoder: Encoder) -> None:
    pairs = (
        negator_weights(cached_encode(encoder, pair.negated), cached_encode(encoder, pair.plain), pair)
        for pair in NEGATION_PAIRS
    )
    mean = cached(encoder, "negations", lambda _: torch.stack(list(pairs)).mean(0), "Reading the negation pairs ...")
    negator, instead = mean
    gain = negator - instead  # see `negator_weights`
    best = Head(*divmod(int(gain.argmax()), encoder.n_heads))
    this_page().python = f"{load(encoder)}\nnotebook.attention(encoder, {MOVIE!r}, {best.layer}, {best.head})"
    movie = cached_encode(encoder, MOVIE)
    rows = {word: row_by_words(movie, at)[best] for word, at in (("good", GOOD), ("amazing", AMAZING))}
    good, amazing = (float(row[NOT]) for row in rows.values())
    picture, words = teaching.sides()
    with words:
        positive, negative = bag_of_words(MOVIE)
        teaching.prose(
            f"A model that only counts words finds {positive} positive words, *good* and *amazing*, and {negative} negative "
            "words. It misses *not*, so it calls the film good. Attention could link *not* to *good* without linking it to "
            "*amazing*. One published lesson prints made-up weights, in which *good* gives *not* the weight .55."
        )
        question = (
            f"Of all heads, {best} links negated words most clearly to their negators. In this head, does *amazing* give "
            "*not* far less weight than *good* does?"
        )
        measured = f"The weight from *good* to *not* is {good:.2f}, and from *amazing* to *not* {amazing:.2f}."
        answered = teaching.predict("negation", question, OPTIONS, OPTIONS[amazing > 0.5 * good], measured)
    with picture:
        _movie(movie, best, rows, answered)
    if not answered:
        return
    st.markdown("#### Does the word attend to the negator, or to any word at that position?")
    teaching.prose(
        f"We compare {len(NEGATION_PAIRS)} pairs such as *the soup was good* and *the soup was not good*. In the second "
        "sentence, a head that always attends one word back also finds *not*. So we subtract a baseline: the weight that "
        "*good* gives *was* in the first sentence. The map shows the difference."
    )
    teaching.steps(
        "negator",
        f"In {best}, the negator gets the weight {float(negator[best]):.2f}. Without a negator, the word in the negator's place "
        f"gets {float(instead[best]):.2f} (the baseline).",
        {"Weight on the negator minus the baseline": teaching.heads_chart(gain, kind="signed")},
        note=f"In {int((gain > 0.1).sum())} of {gain.numel()} heads, the difference is more than 0.10.",
    )
    teaching.prose(
        "A head that attends to *not* needn't understand *not*: the weights don't show what the head does with the value of "
        f"*not*. We chose {best} for having the largest difference on these pairs, so expect a "
        "slightly smaller difference on other pairs."
    )


def _movie(movie: Encoding, head: Head, rows: Mapping[str, Tensor], answered: bool) -> None:
    printed = pd.DataFrame({"token": [word.text for word in movie.words], "weight": ILLUSTRATIVE_ROW})
    counted = [float(word.text in POSITIVE) - float(word.text in NEGATIVE) for word in movie.words]
    frames = {"Counted words": printed.assign(weight=counted), "“good”, as printed": printed}
    frames |= {
        f"“{word}”, {head}": printed.assign(weight=row.tolist() if answered else math.nan) for word, row in rows.items()
    }
    charts = {title: drawing(bar_list, frame, "weight", domain=(0, 1.4), width=100) for title, frame in frames.items()}
    given = ", ".join(f'"{word}" gives "not" {float(row[NOT]):.2f}' for word, row in rows.items())
    rest = ", ".join(f"{max(0.0, 1 - float(row.sum())):.2f} from “{word}”" for word, row in rows.items())
    finding = f'In the published lesson, "good" gives "not" the weight {ILLUSTRATIVE_ROW[NOT]:.2f}. In {head}, {given}.'
    note = f"The figure leaves out the special tokens. They get the weight {rest}."
    teaching.steps("movie", finding, charts, note=note, answered=answered)


def negator_weights(negated: Encoding, plain: Encoding, pair: Negation) -> Tensor:
    """Return the weights from the target word to its negator in `negated`, and to the word in the same place in `plain`.

    The same place: as many words before or after the target word as the negator.
    The result is (2, n_layers, n_heads). Raises ValueError if a word is missing.
    """
    target, negator = first_word(negated, pair.target_word), first_word(negated, pair.negator)
    plain_target = first_word(plain, pair.target_word)
    steps = negated.words.index(negator.word) - negated.words.index(target.word)
    same_place = plain.words[plain.words.index(plain_target.word) + steps]
    given = weight_on(negated.word_rows(target.positions), negator)
    return torch.stack([given, weight_on(plain.word_rows(plain_target.positions), same_place)])


def row_by_words(encoding: Encoding, index: int) -> Tensor:
    """Return the weights from word `index` to each word: (n_layers, n_heads, n_words)."""
    return to_groups(encoding.word_rows(encoding.words[index].positions), [word.positions for word in encoding.words])
