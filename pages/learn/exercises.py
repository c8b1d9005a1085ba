"""Five exercises, checked on the real kernel as soon as a number is changed."""

import streamlit as st

from selfattn.dashboard import teaching
from selfattn.dashboard.answer import answer_of
from selfattn.dashboard.cache import cached_encode
from selfattn.dashboard.choice import Pair
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.dashboard.figures import heading
from selfattn.examples import PAIRS
from selfattn.lessons import exercises, one_head_by_hand, worked_example
from selfattn.lessons.encoded_words import first_word

REAL, FIRST = one_head_by_hand.REAL, PAIRS[0]
SENTENCES = {text: each for each in (FIRST, REAL) for text in (each.first, each.second)}
TASKS = (
    "**1. Which scale gives nine tenths?** *bank* scores −2, 2, −2, −2 and, for *river*, 3. Give *river* 0.90 (± 0.005).",
    "**2. Three to one.** Two words share the weight; d_k = 1. Change a score so that the first gets three times the second's.",
    "**3. Make *it* attend to *street*.** Its query is [3, 1]; *animal* has the key [3, 1]. Change the key of *street* only, and "
    "make it no longer than it is.",
    "**4. Repair this attention:** later words still count in `softmax(scaled * allowed)`. Choose one of the two lines that do.",
    "**5. Hide which word?** Find a sentence and *one* word of it that, hidden from *bank* in every head of the encoder, moves "
    "*bank* at least half of the way to its other sense. What a head attends to most is a start, not a proof.",
)


def ask(number: int) -> exercises.Answer:
    """The inputs of one exercise, kept in the address, and its check."""
    key = f"exercise.{number}"
    if number == 1:
        return exercises.nine_tenths(st.slider("Scale (1/√2 at first)", 0.0, 8.0, 0.71, key=key, bind="query-params"))
    if number == 2:
        typed = st.text_input("scores", "1, 1", key=key, bind="query-params", width=150, max_chars=80)
        return exercises.three_to_one(teaching.numbers("scores", typed, (1, 1)))
    if number == 3:
        typed = st.text_input("key of street", "1, 4", key=key, bind="query-params", width=150, max_chars=80)
        return exercises.to_street(teaching.numbers("key of street", typed, worked_example.KEYS[1]))
    if number == 4:
        line = st.radio("The line", exercises.REPAIRS, 1, key=key, bind="query-params", label_visibility="collapsed")
        return exercises.repair(line)
    encoder = current_encoder()
    if encoder.hide_reason:
        raise ValueError(f"In this encoder no word can be hidden: {encoder.hide_reason}")
    text = st.selectbox("Sentence", list(SENTENCES), key="exercise.5", bind="query-params", width=420)
    chosen = SENTENCES[text]
    placed = [first_word(cached_encode(encoder, each), chosen.word) for each in chosen.sentences]
    pair, side = answer_of(encoder, Pair(*placed)).pair, int(text == chosen.second)
    words = [word.label for word in pair.words[side] if not word.is_punctuation]
    word = st.selectbox("Hide from “bank”", words, key="exercise.5.word", bind="query-params", width=420)
    return exercises.hidden(float(pair.share[side][words.index(word)]))


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
