"""Show the main view's figure, and keep the visitor's choices."""

from functools import partial
from typing import Any

import streamlit as st

from selfattn.analysis.hiding import unmeasured_pair
from selfattn.dashboard import session
from selfattn.dashboard.answer import Answer, Hidden, complete, is_answered, leading_head_of, panel_of
from selfattn.dashboard.browser_history import note_in_address
from selfattn.dashboard.choice import Pair
from selfattn.dashboard.figures import show_panel, this_page
from selfattn.dashboard.link import say_what_is_missing
from selfattn.dashboard.live import show_stored
from selfattn.dashboard.pickers import chosen_head
from selfattn.encoders.encoder import Encoder
from selfattn.panel import Panel
from selfattn.views.main_view import chosen, put_together
from selfattn.words import Word, numbered

ASKED = "asked"  # session.GUESS while the page waits for a guess
# Limit of tokens x layers x d_model. The tokens are those of all copies of the sentence, one copy for each hidden word.
# Above this limit, the sentences are drawn before the results. For the first example, the product is
# 600,000 in the bundled encoder (0.1 s on two cores), 2,400,000 in an encoder of base size (0.8 s).
LONG = 1_500_000


def show_unmeasured(encoder: Encoder, pair: Pair) -> Any:
    """If measuring the effects takes long, draw the sentences first. Return the Streamlit element, empty if nothing is drawn."""
    place, copied = st.empty(), sum(len(word.sentence.tokens) * len(word.others) for word in pair if word)
    long = copied * encoder.n_layers * encoder.d_model > LONG and not encoder.hide_reason
    if not long or session.HIDDEN.get() != session.HIDDEN.first or is_answered(encoder, pair):
        return place
    if live := put_together(encoder, unmeasured_pair(encoder, *pair), None, guess=True).live:
        finding = f'Hiding one word at a time from "{pair.word}" ...'
        with place:
            show_stored("way", live.changed(guess=False, heads=None, finding=finding).data)
    return place


def show_figure(encoder: Encoder, answer: Answer) -> None:
    asked = session.HEADS.get() == answer.key
    if asked:
        complete(encoder, answer)
    choose, panel = partial(_choose, encoder, answer), _panel(encoder, answer, asked or session.HEAD.get() is not None)
    guess = panel.live is not None and panel.live.data["guess"]
    show_panel(
        panel, choose=choose, states=("guess",) if guess else ("hidden", "head", "heads"), first=True, method=False
    )


def complete_figure(encoder: Encoder, answer: Answer) -> None:
    """If the visitor has opened "Download", replace the page's first panel by one with exact effects of heads."""
    if session.DOWNLOAD.get():
        complete(encoder, answer)
        this_page().panels[0] = _panel(encoder, answer, heads=True)


def exact_heads(encoder: Encoder, answer: Answer) -> dict[str, Any]:
    """Return the exact effects of hiding words in one head at a time, as the kernel figure hands them to the main view's figure.

    Returns {} while the map of heads is closed.
    """
    if session.HEADS.get() != answer.key:
        return {}
    complete(encoder, answer)
    live = _panel(encoder, answer, heads=True).live
    return (
        {}
        if live is None
        else {"exact": {"key": live.data["key"], "sides": [side["exact"] for side in live.data["sides"]]}}
    )


def _panel(encoder: Encoder, answer: Answer, heads: bool) -> Panel:
    guessed, hidden = session.GUESS.get(), hidden_now(answer)
    panel = panel_of(encoder, answer, heads=heads, hidden=hidden, guess=guessed == ASKED)
    head = chosen_head(encoder, leading_head_of(encoder, answer)) if heads else None
    return chosen(panel, hidden, head and encoder.all_heads.index(head), guessed or None)


def hidden_now(answer: Answer) -> Hidden:
    """Return the index of the hidden word in A and in B (None: no word is hidden)."""
    kept, hidden = session.HIDDEN.get()
    if kept != answer.key:
        hidden = None, None
        if asked := kept is None and [st.query_params.get(name) for name in session.HIDE.values()]:
            hidden = tuple(own.index(name) if name in own else None for own, name in zip(_names(answer), asked))
        session.HIDDEN.set((answer.key, hidden))
    return hidden


def hidden_words_now(answer: Answer) -> dict[str, Word]:
    return {name: own[at] for name, own, at in zip("AB", answer.found.words, hidden_now(answer)) if at is not None}


def note_hidden(answer: Answer) -> None:
    """Write the hidden words into the address."""
    for side, own, at in zip("AB", _names(answer), hidden_now(answer)):
        key, shown = session.HIDE[side], "nothing hidden" if at is None else own[at]
        this_page().address[key] = None if at is None else own[at]
        say_what_is_missing(
            key, own, shown, f"The link asks to hide {{!r}}, but sentence {side} doesn't have this word.".format
        )


def _names(answer: Answer) -> list[list[str]]:
    """Return each sentence's words as the URL spells them: repeated words have numbers."""
    return [numbered([word.text for word in own]) for own in answer.found.words]


def _choose(encoder: Encoder, answer: Answer, state: str, value: Any) -> None:
    """Store a choice, and rerun the parts of the page that change."""
    if state == "guess" and _offered(_names(answer), [value]) and value[1] is not None:
        session.GUESS.set(tuple(value))
        st.rerun()  # the answer is in another part
    before = hidden_now(answer)
    kept = keep_choice(encoder, answer, state, value)
    if kept and (state != "heads" or hidden_now(answer) != before):  # with the same words, only the figure changes
        st.rerun(["figure", "head"] if state == "heads" else ["head"])


def keep_choice(encoder: Encoder, answer: Answer, state: str, value: Any) -> bool:
    """Store a choice in the session and the address. Return False if the choice is invalid.

    state: "head" (the visitor chose a head), "hidden" (changed the hidden words) or "heads" (opened the heads' map).
    value: for "head", an index into encoder.all_heads; otherwise a list of two indices, of the hidden words in A and B.
    None instead of an index: no word is hidden.
    """
    if state == "head" and type(value) is int and 0 <= value < len(encoder.all_heads):
        head = encoder.all_heads[value]
        session.HEAD.set(str(head))
        leading = leading_head_of(encoder, answer)
        note_in_address({session.HEAD: None if head == leading else str(head)})
        return True
    names = _names(answer)
    if state not in ("hidden", "heads") or not isinstance(value, list) or len(value) != 2:
        return False
    if not _offered(names, enumerate(value)):
        return False
    session.HIDDEN.set((answer.key, tuple(value)))
    if state == "heads":
        session.HEADS.set(answer.key)
    for key, own, at in zip(session.HIDE.values(), names, value):
        if at is not None:
            st.query_params[key] = own[at]
        elif key in st.query_params:
            del st.query_params[key]
    return True


def _offered(names: list[list[str]], chosen: Any) -> bool:
    """Return True if each (side, index) is valid: side 0 or 1, and an index in `names[side]` or None."""
    for one in chosen:
        side, at = one if isinstance(one, list | tuple) and len(one) == 2 else (None, None)
        if side not in (0, 1) or not (at is None or (isinstance(at, int) and 0 <= at < len(names[side]))):
            return False
    return True
