"""Draw the page of five exercises."""

from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st
import torch

from pages.learn.from_scratch.lesson_pages.softmax import LINES
from selfattn.analysis.what_if import causal_mask, four_ways
from selfattn.charts.bars import bar_list
from selfattn.dashboard import teaching
from selfattn.dashboard.answer import answer_of
from selfattn.dashboard.cache import cached_encode
from selfattn.dashboard.choice import Pair
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.dashboard.figures import heading
from selfattn.examples import PAIRS
from selfattn.kernel import attend
from selfattn.lessons import worked_example
from selfattn.lessons.encoded_words import first_word
from selfattn.lessons.one_head_by_hand import BANK, REAL, compute
from selfattn.views.lesson import drawing
from selfattn.words import numbered

SENTENCES = {text: each for each in (PAIRS[0], REAL) for text in (each.first, each.second)}
TASKS = (
    "**1. Which scale gives nine tenths?** *bank* gives the words of *The bank of the river* the scores −2, 2, −2, −2 and 3. "
    "Choose a scale that gives *river* a weight of 0.90 (± 0.005).",
    "**2. Three to one.** Two words have the scores 1 and 1, and d_k = 1. Change a score so that the first word gets three "
    "times the weight of the second word.",
    "**3. Make *it* attend to *street*.** The query of *it* is [3, 1], and so is the key of *animal*. Change the key of "
    "*street* so that *street* gets the largest weight. Don't make the key longer.",
    "**4. Repair this mask.** In `softmax(scaled * allowed)`, later words get weight. Choose code that masks correctly.",
    "**5. Which word gives the sense?** Choose a sentence and *one* word to hide from *bank* in every head of the encoder. "
    "Hiding the word must move *bank* at least half of the way to its other sense. The word with the most attention is a "
    "first guess, not a proof.",
)


class Given(NamedTuple):
    right: bool
    said: str  # what the values give, in words
    bars: dict[str, float]  # numbers to draw, by label
    changed: bool  # True if the visitor has changed an input


def ask(number: int) -> Given:
    """Draw an exercise's input fields, and check whether the visitor's values solve the exercise."""
    field: dict[str, Any] = {"key": f"exercise.{number}", "bind": "query-params"}
    thread = compute()
    if number == 1:
        scale = st.slider("Scale (1/√2 at first)", 0.0, 8.0, 0.71, width=420, **field)
        trace = attend(thread.trace.query, thread.trace.key, thread.trace.value, scale=scale)
        bars = dict(zip(numbered(thread.words), trace.weights[BANK].tolist()))
        most = bars["river"]
        return Given(abs(most - 0.9) < 0.005, f"river gets a weight of {most:.3f}.", bars, scale != 0.71)
    if number == 2:
        typed = st.text_input("scores", "1, 1", width=150, max_chars=80, **field)
        scores = teaching.numbers("scores", typed, (1, 1))
        first, second = worked_example.of_scores(scores, scale=1.0).weights[0].tolist()
        ratio = f", {first / second:.2f} to one" if second else ""
        said = f"The weights are {first:.3f} and {second:.3f}{ratio}."
        return Given(abs(first - 3 * second) < 0.1 * second, said, {"first": first, "second": second}, typed != "1, 1")
    if number == 3:
        animal, street, because = worked_example.KEYS
        typed = st.text_input("key of street", "1, 4", width=150, max_chars=80, **field)
        key = teaching.numbers("key of street", typed, street)
        weights = worked_example.compute(keys=torch.stack([animal, key, because])).weights[0].tolist()
        right = weights[1] > max(weights[0], weights[2]) and key.norm() <= street.norm() + 1e-9
        said = f"street gets a weight of {weights[1]:.2f}. Its key is {key.norm():.2f} long (at first {street.norm():.2f})."
        return Given(bool(right), said, dict(zip(worked_example.TOKENS, weights)), typed != "1, 4")
    if number == 4:
        line = st.radio("The line", LINES, 1, label_visibility="collapsed", **field)
        way = four_ways(thread.trace, causal_mask(len(thread.words)))[LINES.index(line)]
        leaked, least = float(way.leaked.max()), float(way.weights.sum(-1).min())
        said = f"Later words get up to {leaked:.2f} of a word's attention. The smallest row sum is {least:.2f}."
        bars = {"largest weight on later words": leaked, "smallest row sum": least}
        return Given(leaked == 0 and abs(least - 1) < 1e-6, said, bars, line != LINES[1])
    encoder = current_encoder()
    if encoder.hide_reason:
        raise ValueError(f"No word can be hidden in this encoder: {encoder.hide_reason}")
    text = st.selectbox("Sentence", list(SENTENCES), width=420, **field)
    chosen = SENTENCES[text]
    placed = [first_word(cached_encode(encoder, each), chosen.word) for each in chosen.sentences]
    pair, side = answer_of(encoder, Pair(*placed)).found, int(text == chosen.second)
    words = [
        (word.label, float(share)) for word, share in zip(pair.words[side], pair.share[side]) if not word.is_punctuation
    ]
    share_of = dict(zip(numbered([label for label, _ in words]), (share for _, share in words)))
    hidden = st.selectbox("Hide from “bank”", list(share_of), key="exercise.5.word", bind="query-params", width=420)
    share, first = share_of[hidden], (next(iter(SENTENCES)), next(iter(share_of)))
    said = f"Hiding this word moves “bank” {100 * share:.0f} % of the way to its other sense."
    return Given(share >= 0.5, said, {hidden: share}, (text, hidden) != first)


heading("Exercises")
teaching.prose(
    "The exercises go from easy to hard. The page checks each answer as soon as you change it. The page's address contains "
    "your answers, so hand in the address."
)
teaching.explain("query", "key", "score", "softmax", "weight", "mask", "head")
st.html(Path(__file__).with_suffix(".html"), unsafe_allow_javascript=True)
solved = 0
for number, task in enumerate(TASKS, start=1):
    with st.container(border=True, key=f"exercises.{number}"):
        st.markdown(task)
        try:
            given = ask(number)
        except ValueError as refusal:
            st.text(str(refusal))
            continue
        solved += given.right
        bars = pd.DataFrame(given.bars.items(), columns=["token", "weight"])
        chart = drawing(bar_list, bars, "weight", domain=(-0.2, 1.2), width=300)
        teaching.steps(f"exercise {number}", "", {"": chart}, key=f"exercise.{number}.bars")
        if given.right or given.changed:
            (st.success if given.right else st.info)(f"{'Solved. ' if given.right else 'Not yet. '}{given.said}")
st.progress(solved / len(TASKS), text=f"{solved} of {len(TASKS)} solved")
if solved:
    teaching.take(
        "The scale, the scores, the keys and the mask all change attention. In a real encoder, hide a word to find out what "
        "the word does."
    )
