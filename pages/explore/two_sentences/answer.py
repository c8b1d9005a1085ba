"""The answer and its limit, in words, beside each other; and which way the shares are parts of."""

import streamlit as st

from pages.explore.two_sentences import guess
from selfattn.captions import hidden_words as captions
from selfattn.dashboard import session
from selfattn.dashboard.answer import NAMED, SENSES, SENTENCES, beside_its_sense, between_senses
from selfattn.dashboard.choice import Pair
from selfattn.dashboard.figures import literal, say, this_page
from selfattn.dashboard.pickers import segmented
from selfattn.encoders.encoder import Encoder
from selfattn.views.two_sentences import WordInTwoSentences


def pick_way(encoder: Encoder, pair: Pair) -> str:
    """Which way is asked for: between the senses until somebody switches; where they don't fit, its answer says why."""
    asked = session.WAY.get() or st.query_params.get(session.WAY)
    return SENTENCES if asked == SENTENCES and between_senses(encoder, pair) else SENSES


def show(encoder: Encoder, pair: Pair, view: WordInTwoSentences) -> None:
    """The answer in large type and its limit; beneath them, in one row, the switch of the way, the guess and the way on."""
    asked, this_page().lines = guess.asked(), (*view.answer, view.limit, *view.notes)
    with st.container(key="answer", gap=None):
        if asked:
            st.markdown(literal(f'Which word would change "{view.word}" most? Click one.'))
        else:
            st.markdown("  \n".join(map(literal, view.answer)))
    if not asked and view.limit:
        st.text(view.limit, width="stretch")
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        if between_senses(encoder, pair):
            segmented("How far it moves", NAMED, key=session.WAY, default=SENSES, label_visibility="collapsed")
        guess.show(view)
        st.page_link("pages/explore/senses/page.py", label="Many sentences", icon=":material/arrow_forward:")
        st.markdown("What do the % mean?", help=captions.SHARE_HELP, width="content")


def show_notes(encoder: Encoder, pair: Pair, view: WordInTwoSentences) -> None:
    """The cosines in words, beside those of labelled sentences of A's sense, and what a reader must know of this pair."""
    found = beside_its_sense(encoder, pair)
    same = captions.beside_its_sense(view.pair, *found) if found else ""
    say("\n".join(filter(None, (captions.compared(view.pair), same, *view.notes))))
