"""Let the visitor guess which word changes the chosen word most, before the page shows the answer."""

import streamlit as st

from selfattn import numbers
from selfattn.analysis.hiding import HiddenPair
from selfattn.dashboard import session
from selfattn.dashboard.download import view_link
from selfattn.dashboard.figures import this_page
from selfattn.dashboard.word_figure import ASKED

LINK = "guess"  # the parameter of a link that asks for a guess


def asked() -> bool:
    """Return True while the page asks for a guess. A button starts this, or the link that opened the page."""
    if session.GUESS.get() is None and LINK in st.query_params:
        session.GUESS.set(ASKED)
    return session.GUESS.get() == ASKED


def show(pair: HiddenPair) -> None:
    """While the page asks, show the button "Show the answer". Otherwise show the last guess and the button to guess."""
    guessed, page = session.GUESS.get(), this_page()
    if guessed == ASKED:
        page.address[LINK] = "yes"
        st.button("Show the answer", key="no_guess", on_click=session.GUESS.set, args=(False,))
        return
    page.address[LINK] = None
    if guessed and (said := _beside(pair, *guessed)):
        st.text(said, width="content")
        link = view_link(page.encoder, **dict(st.query_params) | {LINK: "yes"})
        st.markdown(f"[Ask a friend the same]({link})", width="content")
    st.button("Guess it yourself", key="guess_first", on_click=session.GUESS.set, args=(ASKED,))


def _beside(pair: HiddenPair, side: int, at: int) -> str:
    """Return a text that compares the guess with the answer; "" for a guess about another pair."""
    words, share, top = pair.words[side], pair.share[side], pair.top[side]
    if at >= len(words):
        return ""
    own = f'Your guess: "{words[at].label}" in {"AB"[side]} ({numbers.share(float(share[at]))}).'
    if top is None or top == at:
        return f"{own} Right: no word of this sentence moves it further."
    return f'{own} The word that moves it most there: "{words[top].label}" ({numbers.share(float(share[top]))}).'
