"""Five exercises, checked on the real kernel as soon as a number is changed."""

from typing import Any

import streamlit as st
import torch

from pages.learn.from_scratch.lesson_pages.causal_mask import LINES
from selfattn.analysis.what_if import causal_mask, four_ways
from selfattn.dashboard import teaching
from selfattn.dashboard.answer import hidden_of
from selfattn.dashboard.cache import cached_encode
from selfattn.dashboard.choice import Pair
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.dashboard.figures import heading
from selfattn.examples import PAIRS
from selfattn.kernel import attend
from selfattn.lessons import worked_example
from selfattn.lessons.encoded_words import first_word
from selfattn.lessons.one_head_by_hand import BANK, REAL, compute
from selfattn.words import numbered

SENTENCES = {text: each for each in (PAIRS[0], REAL) for text in (each.first, each.second)}
TASKS = (
    "**1. Which scale gives nine tenths?** *bank* scores −2, 2, −2, −2 and, for *river*, 3. Give *river* 0.90 (± 0.005).",
    "**2. Three to one.** Two words share the weight; d_k = 1. Change a score so that the first gets three times the second's.",
    "**3. Make *it* attend to *street*.** Its query is [3, 1]; *animal* has the key [3, 1]. Change the key of *street* only, and "
    "make it no longer than it is.",
    "**4. Repair this attention:** later words still count in `softmax(scaled * allowed)`. Choose one of the two lines that do.",
    "**5. Hide which word?** Find a sentence and *one* word of it that, hidden from *bank* in every head of the encoder, moves "
    "*bank* at least half of the way to its other sense. What a head attends to most is a start, not a proof.",
)


def ask(number: int) -> tuple[bool, str]:
    """The inputs of one exercise, kept in the address: whether it is solved, and what the kernel gave."""
    field: dict[str, Any] = {"key": f"exercise.{number}", "bind": "query-params"}
    thread = compute().trace
    if number == 1:
        scale = st.slider("Scale (1/√2 at first)", 0.0, 8.0, 0.71, **field)
        most = float(attend(thread.query, thread.key, thread.value, scale=scale).weights[BANK].max())
        return abs(most - 0.9) < 0.005, f"river gets {most:.3f}."
    if number == 2:
        typed = st.text_input("scores", "1, 1", width=150, max_chars=80, **field)
        scores = teaching.numbers("scores", typed, (1, 1))
        first, second = worked_example.of_scores(scores, scale=1.0).weights[0].tolist()
        ratio = f", {first / second:.2f} to one" if second else ""
        return abs(first - 3 * second) < 0.1 * second, f"The weights are {first:.3f} and {second:.3f}{ratio}."
    if number == 3:
        animal, street, because = worked_example.KEYS
        typed = st.text_input("key of street", "1, 4", width=150, max_chars=80, **field)
        key = teaching.numbers("key of street", typed, street)
        weights = worked_example.compute(keys=torch.stack([animal, key, because])).weights[0].tolist()
        shares = ", ".join(f"{token} {weight:.2f}" for token, weight in zip(worked_example.TOKENS, weights))
        right = weights[1] > max(weights[0], weights[2]) and key.norm() <= street.norm() + 1e-9
        return bool(right), f"Now {shares}; its length is {key.norm():.2f}, it was {street.norm():.2f}."
    if number == 4:
        line = st.radio("The line", LINES, 1, label_visibility="collapsed", **field)
        way = four_ways(thread, causal_mask(len(thread.query)))[LINES.index(line)]
        leaked, least = float(way.leaked.max()), float(way.weights.sum(-1).min())
        said = f"Up to {leaked:.2f} of a row falls on later words; the smallest row sums to {least:.2f}."
        return leaked == 0 and abs(least - 1) < 1e-6, said
    encoder = current_encoder()
    if encoder.hide_reason:
        raise ValueError(f"In this encoder no word can be hidden: {encoder.hide_reason}")
    text = st.selectbox("Sentence", list(SENTENCES), width=420, **field)
    chosen = SENTENCES[text]
    placed = [first_word(cached_encode(encoder, each), chosen.word) for each in chosen.sentences]
    pair, side = hidden_of(encoder, Pair(*placed)), int(text == chosen.second)
    words = [
        (word.label, float(share)) for word, share in zip(pair.words[side], pair.share[side]) if not word.is_punctuation
    ]
    share_of = dict(zip(numbered([label for label, _ in words]), (share for _, share in words)))
    hidden = st.selectbox("Hide from “bank”", list(share_of), key="exercise.5.word", bind="query-params", width=420)
    share = share_of[hidden]
    return share >= 0.5, f"Hidden, it moves “bank” {100 * share:.0f} % of the way to its other sense."


heading("Exercises")
teaching.prose(
    "From easy to hard. Each is computed by the kernel that runs on every page, as soon as you change something. What you chose "
    "stands in the address: hand that in."
)
teaching.explain("query", "key", "score", "softmax", "weight", "mask", "head")
solved = 0
for number, task in enumerate(TASKS, start=1):
    with st.container(border=True):
        st.markdown(task)
        try:
            right, answer = ask(number)
        except ValueError as refusal:
            st.text(str(refusal))
            continue
        solved += right
        (st.success if right else st.info)(f"{'Solved. ' if right else 'Not yet. '}{answer}")
st.progress(solved / len(TASKS), text=f"{solved} of {len(TASKS)} solved")
teaching.take(
    "You can steer attention: by the scale, a score, a key, the mask. In a real encoder only hiding a word shows what it does."
)
