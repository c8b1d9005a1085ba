"""The tab "Attributions": what hiding and two other methods say each word contributes, and where they disagree."""

from functools import partial

import streamlit as st

from selfattn import numbers
from selfattn.analysis.attributions import Attributions, agreement, attribute, direction
from selfattn.captions.attributions import ranks, rollout
from selfattn.dashboard.answer import SENTENCES, answer_of
from selfattn.dashboard.cache import cached
from selfattn.dashboard.choice import Choice
from selfattn.dashboard.figures import current_theme, say, show_chart, side_by_side
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.views.all_heads import ranks_of_words

HIDING = (
    "Hiding keeps the word from attending to one other word, in every head: how far its unit vector moves on the way to the "
    "other sentence's."
)
ROLLOUT = "No word can be hidden in this encoder, so rollout stands in: it never sees the number and only follows the weights."
ASK_FIRST = 100  # sentences to run through the encoder: more than so many words, and the visitor is asked before


def show_attributions(choice: Choice) -> None:
    """For one number, named on the page: what each word contributes, three times, and where the three disagree."""
    st.markdown(
        "Attention is not explanation, so others are asked about **one number**: how far the word's final vector points "
        "from B's to A's, $s = v \\cdot (v_A - v_B) / |v_A - v_B|$."
    )
    pair = choice.pair
    try:
        towards = direction(pair.first, pair.second)
    except ValueError as error:
        say(str(error))
        return
    longest = max(len(side.sentence.words) for _, side in pair.sides)
    if longest > ASK_FIRST and not st.toggle(
        f"Ask all three (each of the {longest} words is taken away in turn: this takes minutes)", key="ask"
    ):
        return

    hidden = None if choice.encoder.hide_reason else answer_of(choice.encoder, pair, SENTENCES).pair

    def asked(name: str, side: PlacedWord[Encoding]) -> Attributions:
        key = ("attributions", pair.first.key, pair.second.key, name)
        share = None if hidden is None else hidden.share["AB".index(name)]
        ask = partial(attribute, choice.encoder, side.sentence, side.word, towards, hidden=share)
        return cached(choice.encoder, key, ask, f"Asking about {name} ...", costly=True)

    attributions = {name: asked(name, side) for name, side in pair.sides}
    for name, place in zip(attributions, side_by_side()):
        with place:
            _show_side(name, attributions[name])
    blank = attributions["A"].blank
    say(
        f"{ROLLOUT if hidden is None else HIDING} Integrated gradients start from a baseline in which "
        f"every other word is replaced by {blank}, and their bars add up to what lies between; occlusion replaces one other "
        f"word at a time by {blank}. The word itself and the special tokens stay throughout: all three are asked about the "
        "other words. Ranks go by size, whichever the sign."
    )


def _show_side(name: str, attributions: Attributions) -> None:
    st.markdown(f"**{name}: what each other word contributes**")
    if len(attributions.words) < 2:
        st.text("There are not two other words to rank.")
        return
    frame = attributions.frame()
    methods = list(attributions.values)
    reading = ranks(frame, agreement(attributions.values), methods)
    title = f"what each other word in {name} contributes"
    show_chart(ranks_of_words(attributions, current_theme()), reading, one_head=False, name=title, sentence=name)
    if "rollout" not in methods:
        both = {"hiding": attributions.values["hiding"], "rollout": attributions.rollout}
        say(rollout(frame.assign(rollout=attributions.rollout), agreement(both)))
    say(
        f"s = {numbers.decimal(attributions.number, 3)} as it stands, {numbers.decimal(attributions.baseline, 3)} with every "
        f"other word blanked out; integrated gradients leave {numbers.error(attributions.gap)} unexplained."
    )
