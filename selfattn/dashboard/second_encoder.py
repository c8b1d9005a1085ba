"""The picker for a second encoder, to compare with the one in the sidebar: a known name, a Hub id or a folder."""

import streamlit as st

from selfattn.dashboard import encoder_picker as state
from selfattn.dashboard.figures import show_error
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import LoadError
from selfattn.encoders.sources import BUNDLED_NAME, CURATED, allowed_names

NONE = "choose ..."


def pick(first: Encoder) -> Encoder | None:
    """The second encoder, on the first one's device and in its precision; None until one is chosen and can be loaded."""
    allowed = allowed_names()
    known = [name for name in dict.fromkeys((BUNDLED_NAME, *(allowed or CURATED))) if name != first.name]
    options = [NONE, *known, *([] if allowed is not None else [state.OTHER])]
    if st.session_state.get("second", NONE) not in options:
        st.session_state.second = NONE
    name = st.selectbox(
        "Second encoder", options, key="second", bind="query-params", format_func=state.short_name, width=260
    )
    revision = ""
    if name == state.OTHER:
        name = st.text_input(
            "Hub id or folder",
            key="second_other",
            bind="query-params",
            placeholder="owner/name or /a/folder",
            width=260,
        ).strip()
        revision = st.text_input(
            "Revision", key="second_revision", bind="query-params", placeholder="newest", width=110
        )
    if name in (NONE, ""):
        return None
    try:
        return state.load(name, revision.strip() or None, first.device, first.dtype)
    except LoadError as error:
        show_error(error)
        return None
