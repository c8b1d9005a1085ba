"""Show what the other pages can't prove, with counter-examples."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import streamlit as st
from torch import Tensor

from selfattn.analysis.removing import removal_effect
from selfattn.check import raw_c_measured
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached, cached_effect, cached_encode
from selfattn.dashboard.copy_as_python import load
from selfattn.dashboard.encoder_picker import current_encoder, show_encoder
from selfattn.dashboard.figures import heading, say, show_panel, side_by_side, this_page
from selfattn.dashboard.reports import stored_or_made, stored_report
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder, Progress
from selfattn.examples import NEUTRAL_SENTENCES, PAIRS, labelled_sentences
from selfattn.lessons.encoded_words import first_word
from selfattn.lessons.pronouns import PronounWeights
from selfattn.panel import Panel
from selfattn.senses import HiddenWordsReport, SeparationReport, hidden_words, separation
from selfattn.tidy_tables import heads_frame
from selfattn.views import limits, senses

T = TypeVar("T")
WORDS, PER_SENSE = 3, 4  # used if no report is stored
PASSAGE = " ".join(NEUTRAL_SENTENCES)  # more tokens than a head has dimensions


def stored_or_few(kind: type[T], encoder: Encoder, make: Callable[..., T]) -> T:
    """Return the encoder's stored report. If none is stored, make one from a few sentences."""
    if kept := stored_report(kind, encoder):
        return kept.report
    labelled = labelled_sentences()
    few = labelled[labelled["word"].isin(labelled["word"].unique()[:WORDS])].groupby(["word", "sense"]).head(PER_SENSE)
    title = "Reading labelled sentences ..."
    return cached(encoder, kind.__name__, lambda show: make(encoder, few, progress=show), title, costly=True)


def removed_heads(encoder: Encoder) -> Panel:
    pair = PAIRS[0]
    first, second, again = (first_word(cached_encode(encoder, text), pair.word) for text in pair.sentences)
    heads = heads_frame(effect=cached_effect(encoder, first, second), control=cached_effect(encoder, first, again))

    def remove_all(_: Progress) -> Tensor:
        return removal_effect(encoder, first, second, heads=[tuple(encoder.all_heads)])

    together = cached(encoder, "all heads removed", remove_all, costly=True)
    return limits.removed_heads(heads, float(together), encoder.dtype)


def attention(encoder: Encoder) -> Panel | str:
    """Compare the most attended word with the word that decides the sense."""
    if encoder.hide_reason:
        return f"No word can be hidden in this encoder: {encoder.hide_reason}"
    report = stored_or_few(HiddenWordsReport, encoder, hidden_words)
    return senses.attention(report, raw_c_measured(encoder.content))


def other_weights(encoder: Encoder) -> Panel | str:
    """Show attention weights that differ from a head's weights, but give the same context vector."""
    make = partial(limits.other_weights, cached_encode(encoder, PASSAGE))
    found = cached(
        encoder, "other weights", lambda _: make(), "Looking for other weights that give the same context vector ..."
    )
    return found or "Found no other weights that give the same context vector, because the text has too few tokens."


def separated(encoder: Encoder) -> Panel:
    report = stored_or_few(SeparationReport, encoder, separation)
    best = Head(*report.heads.loc[report.heads["adds"].idxmax(), ["layer", "head"]].astype(int))
    return senses.adds(report, best)


def lucky_head(encoder: Encoder) -> Panel:
    return limits.lucky_head(stored_or_made(PronounWeights, encoder, "Reading the pronoun sentences ...")[0])


def noise(_: Encoder) -> Panel:
    return limits.recomputed_noise()


OF_ANY = attention, noise  # the sections for encoders whose attention can't be recomputed
SECTIONS: dict[str, Callable[[Encoder], Panel | str]] = {
    "A large weight doesn't mean a large effect": attention,
    "Other weights can give the same result": other_weights,
    "Removing a head doesn't show the cause of a result": removed_heads,
    "A head can tell senses apart even if its attention weights don't help": separated,
    "Correct arithmetic doesn't prove what a head means": noise,
    "A head may pass a test by luck": lucky_head,
}


heading("What it cannot tell")
teaching.prose(
    "This page shows what the figures on the other pages can *not* prove. The examples come from the encoder that you chose."
)
encoder = current_encoder()
show_encoder(encoder)
if encoder.recomputable:
    first, second, word = PAIRS[0].first, PAIRS[0].second, PAIRS[0].word
    call = f"notebook.all_heads(encoder, {first!r}, 'effect', second={second!r}, word={word!r})"
    this_page().python = f"{load(encoder)}\n{call}"
else:
    say(
        f"Some counter-examples are missing, because selfattn can't recompute this encoder's attention: {encoder.reason}"
    )
asked = {title: make for title, make in SECTIONS.items() if encoder.recomputable or make in OF_ANY}
columns = side_by_side()
for place, (title, make) in enumerate(asked.items()):
    with columns[place % 2]:
        st.markdown(f"#### {title}")
        try:
            shown = make(encoder)
        except ValueError as error:  # the encoder can't read enough of the texts
            shown = f"There is no counter-example for this encoder: {error}"
        if isinstance(shown, str):
            say(shown)
        else:
            show_panel(shown)
