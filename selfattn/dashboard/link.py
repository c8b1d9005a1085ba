"""Report the values of a link that a page can't honour; keep in the address what differs from the defaults.

Streamlit silently drops from an address the values that its widgets don't offer.
"""

from collections.abc import Callable, Collection

import streamlit as st

from selfattn.dashboard import session
from selfattn.dashboard.figures import literal, this_page
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.sources import BUNDLED_DIGESTS, BUNDLED_NAME

DIGITS = 8  # of the digest of an encoder's weights
RENAMED = {("step", "powers"): "exponentials"}  # what older links ask for by another name
REMEDY = "Choose something else, or ask whoever made the link."
ENCODER_REMEDY = "For the link's numbers choose its encoder, start selfattn with it, or ask whoever made the link."


def remember_link() -> None:
    """Call before the first widget: what the address held when this session began."""
    if session.LINK not in st.session_state:
        st.session_state.update({session.LINK: st.query_params.to_dict(), session.INSTEAD: {}})
        for asked in RENAMED.keys() & st.query_params.items():
            spell(asked[0], RENAMED[asked])


def spell(key: str, name: str) -> None:
    """Call before a bound widget is first drawn: the link's value as the widget knows it. Ends the run for a new one."""
    if linked(key) != name:
        session.LINK.get()[key] = st.query_params[key] = name
        st.rerun()  # it reads the address as it was when the run began


def linked(key: str) -> str:
    """What the link asks for under a key, until it is had or the visitor has chosen something else."""
    return session.LINK.get().get(key, "")


def say_what_is_missing(
    key: str, possible: Collection[str], shown: str, sentence: Callable[[str], str], remedy: str = REMEDY
) -> None:
    """Where the link asks for what isn't possible: one sentence, as long as the page shows the same in its place."""
    asked = linked(key)
    if not asked:
        return
    if asked in possible or session.INSTEAD.get().setdefault(key, shown) != shown:
        del session.LINK.get()[key]
        return
    text = f"{sentence(asked[:200])} Shown instead: {shown}. {remedy}"
    st.warning(literal(text), icon=":material/link_off:")


def keep_in_address(key: str, default: str) -> None:
    """Call before a bound widget: what was its default and no longer is must stand in the address from now on."""
    before = session.DEFAULT_OF.of(key)
    if key in st.session_state and before.get() not in (None, default):
        st.session_state[key] = st.session_state[key]
    before.set(default)


def note_weights(key: str, encoder: Encoder | None, asked_for: str, named: bool = True) -> None:
    """Keep the start of the weights' digest in the address, and say where the link was made with other weights.

    asked_for: what the link calls its encoder, if anything. named: whether the address names this one beside the digest;
    where not, its title stands behind it, but the bundled one's, which every server knows. None: it couldn't be loaded,
    which the page says already.
    """
    asked, address = linked(key), this_page().address
    if encoder is None:
        st.session_state.setdefault(session.INSTEAD, {}).setdefault(key, "")
        address[key] = asked or None
        return
    begins, bundled = encoder.digest[:DIGITS], BUNDLED_DIGESTS["model.safetensors"][:DIGITS]
    digest, _, title = asked.partition(" ")
    made = title or (BUNDLED_NAME if digest == bundled else asked_for or "another encoder")
    say_what_is_missing(
        key,
        [asked] if digest == begins else [],
        f"{encoder.title}, whose sha256 begins {begins}: its numbers, not the link's",
        lambda _: f"The link was made with {made[:200]}, the sha256 of whose weights begins {digest[:200]}.",
        ENCODER_REMEDY,
    )
    # As long as the link's is unmatched it stays there: a reload says so again.
    address[key] = linked(key) or (begins if named or begins == bundled else f"{begins} {encoder.title}")
