"""Five exercises, checked on the real kernel as soon as a number is changed."""

import streamlit as st

from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached_encode, cached_swaps
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.dashboard.figures import heading
from selfattn.lessons import exercises, one_head_by_hand, worked_example
from selfattn.lessons.encoded_words import first_word

TASKS = (
    "**1. Which scale makes this one-hot?** *bank* scores −2, 2, −2, −2 and, for *river*, 3. Give *river* alone over 99 %.",
    "**2. Three to one.** Two words share the weight; d_k = 1. Change a score so that the first gets three times the second's.",
    "**3. Make *it* attend to *street*.** Its query is [3, 1]; *animal* has the key [3, 1]. Change the key of *street* only.",
    "**4. Repair this attention:** later words still count in `softmax(scaled * allowed)`. Choose one of the two lines that do.",
    "**5. Swap which head?** Find one whose output, taken from *The bank approved the loan.*, moves the *bank* of "
    "*The bank of the river.* a fifth of the way to being the other. Where its weights differ most is a start, not a proof.",
)


def ask(number: int) -> exercises.Answer:
    """The inputs of one exercise, and its check."""
    key = f"exercise.{number}"
    if number == 1:
        return exercises.one_hot(st.slider("Scale (1/√2 at first)", 0.0, 8.0, 0.5**0.5, key=key))
    if number == 2:
        return exercises.three_to_one(teaching.vectors(key, {"scores": (1, 1)})["scores"])
    if number == 3:
        return exercises.to_street(teaching.vectors(key, {"key of street": worked_example.KEYS[1]})["key of street"])
    if number == 4:
        return exercises.repair(st.radio("The line", exercises.REPAIRS, 1, key=key, label_visibility="collapsed"))
    encoder, pair = current_encoder(), one_head_by_hand.REAL
    names = {str(head): head for head in encoder.all_heads}
    chosen = names[st.select_slider("Head", list(names), list(names)[min(10, encoder.n_heads - 1)], key=key)]
    words = [first_word(cached_encode(encoder, text), pair.word) for text in (pair.first, pair.second)]
    for each, positions in words:
        row = each.weights(*chosen)[list(positions)].mean(0)
        st.text(
            f'{chosen}, "{pair.word}": ' + "  ".join(f"{token} {weight:.2f}" for token, weight in zip(each.tokens, row))
        )
    return exercises.swapped(float(cached_swaps(encoder, *words).share[chosen]))


heading("Exercises")
teaching.prose(
    "From easy to hard. Each is computed by the kernel that runs on every page, as soon as you change something."
)
teaching.explain("query", "key", "score", "softmax", "weight", "mask", "head")
solved = 0
for number, task in enumerate(TASKS, start=1):
    with st.container(border=True):
        st.markdown(task)
        try:
            answer = ask(number)
        except ValueError as refusal:
            st.text(str(refusal))
            continue
        solved += answer.right
        (st.success if answer.right else st.info)(f"{'Solved. ' if answer.right else 'Not yet. '}{answer.said}")
st.progress(solved / len(TASKS), text=f"{solved} of {len(TASKS)} solved")
teaching.take(
    "You can steer attention: by the scale, a score, a key, the mask. In a real head only a swap shows what it does."
)
