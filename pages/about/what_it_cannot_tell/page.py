"""Limits of weights, removed heads, sense scores and the recomputation, each with a live counter-example."""

import streamlit as st

from pages.about.what_it_cannot_tell import counterexamples
from selfattn.check import raw_c_measured
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached
from selfattn.dashboard.compute_again import offer_again, stored_or_made, stored_report
from selfattn.dashboard.copy_as_python import load
from selfattn.dashboard.encoder_picker import current_encoder, show_encoder
from selfattn.dashboard.figures import heading, show_panel, this_page
from selfattn.encoders.encoder import Encoder
from selfattn.examples import PAIRS
from selfattn.lessons.counterexamples import HalvedSenses, recomputed_noise
from selfattn.lessons.pronouns import PronounWeights
from selfattn.numbers import error
from selfattn.senses import HiddenWordsReport
from selfattn.views.senses import attention


def show_hidden_words(encoder: Encoder) -> None:
    st.markdown("#### A large weight is not a large effect")
    teaching.prose(
        "In labelled sentences each other word was hidden from a word: the most telling one is the one whose hiding moves the "
        "word furthest toward its other senses. Do the weights name it?"
    )
    if encoder.hide_reason:
        st.text(f"No word can be hidden in this encoder: {encoder.hide_reason}", width="stretch")
        return
    kept = stored_report(HiddenWordsReport, encoder)
    report = counterexamples.stored_or_measured(encoder, kept and kept.report)
    show_panel(attention(report, raw_c_measured(encoder.content)))


def show_weights(encoder: Encoder) -> None:
    key, title = "counter-examples", "Looking for counter-examples ..."
    panel = cached(encoder, key, lambda _: counterexamples.weights_panel(encoder), title)
    st.markdown("#### Other weights, the same result")
    teaching.prose(
        "In a text with more tokens than a head has dimensions, many rows of weights mix the very same context."
    )
    if panel:
        show_panel(panel)
    else:
        st.text("In this encoder no other row of weights was found for this text: it has too few tokens.")


def show_senses_and_luck(encoder: Encoder) -> None:
    halves, kept = stored_or_made(HalvedSenses, encoder, "Measuring every head on the labelled sentences ...")
    weights, kept_weights = stored_or_made(PronounWeights, encoder, "Reading the pronoun sentences ...")
    st.markdown("#### A sense that can be separated is not a sense that a head found")
    teaching.prose(
        "If a head's output separates two senses, the word's own value, or a plain average over the sentence, may do as "
        "well. That is why the Senses page sets every head beside both."
    )
    st.text(counterexamples.sense_example(halves), width="stretch")
    st.markdown("#### A head that passes one test may be lucky")
    teaching.prose("With many heads, one always does well. An example chosen from many proves less than it seems.")
    st.text(counterexamples.luck_example(weights), width="stretch")
    if kept and kept_weights:
        offer_again(kept, kept_weights)


heading("What it cannot tell")
teaching.prose(
    "Pictures of attention persuade quickly. Here is what the figures on these pages do *not* show, each with a "
    "counter-example computed on the encoder you chose."
)
encoder = current_encoder()
show_encoder(encoder)
show_hidden_words(encoder)
if encoder.recomputable:
    show_weights(encoder)
    call = f"notebook.removals(encoder, {PAIRS[0].first!r}, {PAIRS[0].second!r}, {PAIRS[0].word!r})"
    this_page().python = f"{load(encoder)}\n{call}"
    sums, control = counterexamples.removal_example(encoder)
    st.markdown("#### Removing a head is not finding the cause")
    teaching.prose("Heads stand in for one another and work against one another. So single effects don't add up.")
    st.text(sums, width="stretch")
    teaching.prose("Removing heads moves the vectors of *one* sense, too. That is the control:")
    st.text(control, width="stretch")
    show_senses_and_luck(encoder)
else:
    st.text(f"This encoder is shown, not recomputed, so some counter-examples are missing here: {encoder.reason}")
st.markdown("#### A proof of arithmetic is not a proof of meaning")
teaching.prose(
    "“Recomputed” says that attention's formula, with this encoder's own scale and mask, gives the model's own numbers. "
    "It would say the same of pure noise: "
    f"on random queries, keys and values the kernel and torch differ by **{error(recomputed_noise())}**."
)
