"""Let the visitor guess which word has the largest effect when it is hidden."""

import streamlit as st

from selfattn import numbers
from selfattn.analysis.hiding import HiddenPair
from selfattn.dashboard import session
from selfattn.dashboard.download import view_link
from selfattn.dashboard.figures import this_page
from selfattn.dashboard.word_figure import ASKED

LINK = "guess"  # URL parameter that asks for a guess


def asked() -> bool:
    """Return True while the visitor is asked to guess."""
    if session.GUESS.get() is None and LINK in st.query_params:
        session.GUESS.set(ASKED)
    return session.GUESS.get() == ASKED


def show(pair: HiddenPair) -> None:
    guessed, page = session.GUESS.get(), this_page()
    if guessed == ASKED:
        page.address[LINK] = "yes"
        st.button("Show the answer", key="no_guess", on_click=session.GUESS.set, args=(False,))
        return
    page.address[LINK] = None
    if guessed and (said := _beside(pair, *guessed)):
        st.text(said, width="content")
        link = view_link(page.encoder, **dict(st.query_params) | {LINK: "yes"})
        st.markdown(f"[Ask a friend the same question]({link})", width="content")
    st.button("Guess it yourself", key="guess_first", on_click=session.GUESS.set, args=(ASKED,))


def _beside(pair: HiddenPair, side: int, at: int) -> str:
    """Compare the guessed word's effect with the largest effect."""
    words, share, top = pair.words[side], pair.share[side], pair.top[side]
    if at >= len(words):
        return ""
    guess, moved = f'"{words[at].label}"', f'"{pair.placed[side].word.label}"'
    own, far = f"You guessed {guess} in {'AB'[side]}.", numbers.share(float(share[at]))
    if top is None or top == at:
        return f"{own} Right: hiding {guess} moves {moved} furthest, {far} of the way."
    most = f'Hiding "{words[top].label}" moves {moved} furthest, {numbers.share(float(share[top]))} of the way.'
    return f"{own} Hiding {guess} moves {moved} {far} of the way. {most}"
