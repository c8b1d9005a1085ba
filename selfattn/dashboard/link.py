"""Warn if Streamlit would silently drop a value from a link."""

from collections.abc import Callable, Collection

import streamlit as st

from selfattn.dashboard import session
from selfattn.dashboard.figures import literal, this_page
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.sources import BUNDLED_CONTENT, BUNDLED_DIGESTS, BUNDLED_NAME

DIGITS = 8  # hexadecimal digits of an encoder's sha256
OLDER = {"content": "digest", "second_content": "second_digest"}  # older parameters: digests of the weights alone
REMEDY = "Choose another value, or ask the link's author for a new link."
OLD_LINK = "This old link identifies its encoder only by the weights. The encoder of this page has the same weights."
LEFT_OPEN = "The configuration and the tokeniser may differ from those of the link's encoder."
ENCODER_REMEDY = (
    "To see the same numbers as the link's author, choose the link's encoder, or start selfattn with that encoder."
)


def remember_link() -> None:
    """Store the parameters of the URL with which the session began."""
    if session.LINK not in st.session_state:
        st.session_state.update({session.LINK: st.query_params.to_dict(), session.INSTEAD: {}})


def spell(key: str, name: str) -> None:
    """Set the parameter `key` to `name` in session.LINK and in the address, and rerun. Call before drawing the widget `key`."""
    if linked(key) != name:
        session.LINK.get()[key] = st.query_params[key] = name
        st.rerun()  # this run's widgets still read the old address


def linked(key: str) -> str:
    """Return the parameter `key` of the opened link; "" if it is missing or was removed from session.LINK."""
    return session.LINK.get().get(key, "")


def say_what_is_missing(
    key: str, possible: Collection[str], shown: str, sentence: Callable[[str], str], remedy: str = REMEDY
) -> None:
    """Warn of a link's value that the page can't use.

    possible: usable values.
    shown: the value that the page shows.
    sentence: makes the warning's first sentence from the link's value.
    remedy: the warning's last sentence.
    """
    asked = _still_asked(key, possible, shown)
    if not asked:
        return
    text = f"{sentence(asked[:200])} Shown instead: {shown}. {remedy}"
    st.warning(literal(text), icon=":material/link_off:")


def _still_asked(key: str, possible: Collection[str], shown: str) -> str:
    """Return the link's value of `key` if the page must still warn that it can't use this value, else "".

    possible, shown: as in `say_what_is_missing`.
    """
    asked = linked(key)
    if asked and (asked in possible or session.INSTEAD.get().setdefault(key, shown) != shown):
        del session.LINK.get()[key]
        return ""
    return asked


def keep_in_address(key: str, default: str) -> None:
    """Write a widget's value into the page's URL if the widget's default has changed to `default`."""
    before = session.DEFAULT_OF.of(key)
    if key in st.session_state and before.get() not in (None, default):
        st.session_state[key] = st.session_state[key]
    before.set(default)


def keep_identity(key: str) -> None:
    """Copy the encoder's digest from the opened link into the page's address. key: "content" or "second_content"."""
    for each in (key, OLDER[key]):
        this_page().address[each] = linked(each) or None


def note_identity(key: str, encoder: Encoder | None, asked_for: Callable[[], str], named: bool = True) -> None:
    """Write the encoder's digest into the address; warn if the link has another digest.

    key: "content" or "second_content".
    encoder: None if loading failed.
    asked_for: returns the encoder's name in the link, or "".
    named: True if another part of the address names the encoder. If False, the encoder's title is written after the digest.
    """
    older = OLDER[key]
    by = older if linked(older) and not linked(key) else key
    if encoder is None:
        keep_identity(key)
        st.session_state.setdefault(session.INSTEAD, {}).setdefault(by, "")
        return
    what, own, bundled = "sha256", encoder.content, BUNDLED_CONTENT
    if by == older:
        what, own, bundled = "weights' sha256", encoder.digest, BUNDLED_DIGESTS["model.safetensors"]
    begins, (start, _, title) = own[:DIGITS], linked(by).partition(" ")
    if linked(by) and by == older and start == begins:
        if _still_asked(older, (), encoder.title):
            st.info(
                literal(f"{OLD_LINK} The sha256 of both encoders' weights begins with {begins}. {LEFT_OPEN}"),
                icon=":material/link:",
            )
    elif linked(by):
        made = title or (BUNDLED_NAME if start == bundled[:DIGITS] else asked_for() or "another encoder")
        say_what_is_missing(
            by,
            [linked(by)] if start == begins else [],
            f"numbers computed by {encoder.title}, whose {what} begins with {begins}",
            lambda _: f"The link was made with {made[:200]}, whose {what} begins with {start[:200]}.",
            ENCODER_REMEDY,
        )
        if linked(by):  # keep the digest, so that a reload warns again
            keep_identity(key)
            return
    here = encoder.content[:DIGITS]
    known = named or encoder.content == BUNDLED_CONTENT
    this_page().address |= {key: here if known else f"{here} {encoder.title}", older: None}
