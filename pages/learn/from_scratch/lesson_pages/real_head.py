"""Draw the lesson's last non-optional page. The page uses a real encoder."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from selfattn.dashboard import session
from selfattn.dashboard.answer import Answer, answer_of, copied_senses, panel_of
from selfattn.dashboard.cache import cached_encode
from selfattn.dashboard.choice import Pair
from selfattn.dashboard.copy_as_python import lines, load_pair
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.dashboard.figures import say, show_panel, this_page
from selfattn.lessons.encoded_words import first_word
from selfattn.lessons.one_head_by_hand import REAL


def real_head(answered: bool) -> None:
    encoder, found = current_encoder(), _answer()
    for note in found.found.notes:
        st.text(note)
    panel, whole = panel_of(encoder, found, guess=not answered), panel_of(encoder, found).live
    if panel.live and whole:
        live, way = panel.live.changed(alone=True), whole.data["way"]
        if not answered:
            asked = "With “river” hidden from “bank” in sentence A, how far does the dot of “bank” move?"
            live = live.changed(finding=asked, way=way and {**way, "level": None})
        panel = replace(panel, live=live)
    states = () if answered else ("guess",)
    show_panel(panel, choose=lambda *_: session.REVEALED.of("real-head").set(True), states=states)


def answer(options: Sequence[str]) -> str:
    """Return the option that is correct for the loaded encoder."""
    pair = _answer().found
    river = next(at for at, word in enumerate(pair.words[0]) if word.text == "river")
    share = float(pair.share[0][river])
    return options[1] if share > 0.75 else options[0] if share > 0.25 else options[2]


def real_head_details() -> None:
    st.expander("Details: half way").text(
        "Without “river”, in “The bank of the.”, the encoder of this site places “bank” at 48 % of the way from its river "
        "sentences to its money sentences: about half way. Hiding “river” from all words moves “bank” 50 % of the way, "
        "no farther than hiding “river” from “bank” alone."
    )


def _answer() -> Answer:
    """Return the result of hiding words in the lesson's sentences. Stop the page's run if words can't be hidden."""
    encoder = current_encoder()
    if encoder.hide_reason:
        say(f"No word can be hidden in this encoder: {encoder.hide_reason}")
        st.stop()
    pair = Pair(*(first_word(cached_encode(encoder, text), REAL.word) for text in REAL.sentences))
    found = answer_of(encoder, pair)
    call = "notebook.hidden_words(encoder, a, b, control, word, at=at, senses=senses)"
    this_page().python = lines(copied_senses(found), load_pair(encoder, pair), call)
    return found
