"""Guess first: which word would change the word most? The answer stands beside the guess, and a link asks a friend the same."""

import streamlit as st

from selfattn import numbers
from selfattn.dashboard import session
from selfattn.dashboard.download import view_link
from selfattn.dashboard.figures import this_page
from selfattn.dashboard.word_figure import ASKED
from selfattn.views.two_sentences import WordInTwoSentences

LINK = "guess"  # in the address of a link that asks


def asked() -> bool:
    """Whether a guess is asked for now: by the button, or by the link that opened the page."""
    if session.GUESS.get() is None and LINK in st.query_params:
        session.GUESS.set(ASKED)
    return session.GUESS.get() == ASKED


def show(view: WordInTwoSentences) -> None:
    """The way out of the question; or the guess beside the answer and a link that asks a friend, with the button that asks."""
    guessed, page = session.GUESS.get(), this_page()
    if guessed == ASKED:
        page.address[LINK] = "yes"
        st.button("Show the answer", key="no_guess", on_click=session.GUESS.set, args=(False,))
        return
    page.address[LINK] = None
    if guessed and (said := _beside(view, guessed)):
        st.text(said, width="content")
        link = view_link(page.encoder, **dict(st.query_params) | {LINK: "yes"})
        st.markdown(f"[Ask a friend the same]({link})", width="content")
    st.button("Guess first", key="guess_first", on_click=session.GUESS.set, args=(ASKED,))


def _beside(view: WordInTwoSentences, guessed: tuple[str, int]) -> str:
    """The guess and what hiding it does, and the word of that sentence that does most; "" for a guess about another pair."""
    side = "AB".index(guessed[0])
    words, share, top = view.pair.words[side], view.pair.share[side], view.pair.top[side]
    at = next((at for at, word in enumerate(words) if word.start == guessed[1]), None)
    if at is None:
        return ""
    own = f'Your guess: "{words[at].label}" in {guessed[0]} ({numbers.share(float(share[at]))}).'
    if top is None or top == at:
        return f"{own} Right: no word of this sentence moves it further."
    return f'{own} The word that moves it most there: "{words[top].label}" ({numbers.share(float(share[top]))}).'
