"""Carry the visitor's choice from one view to the next.

A bound widget that got its value from the page's address, and was not touched since, starts from its default when it is
first drawn on another page, though the session still holds the value. Setting the value again hands it on.
"""

import streamlit as st

CHOICE = ("example", "a", "b", "c", "word", "head")


def carry_choice(page: str) -> None:
    """Call before the pickers, with the page's own name; does its work on arrival only, so that Back finds what was."""
    if st.session_state.get("page") != page:
        for key in CHOICE:
            if key in st.session_state and key not in st.query_params:
                st.session_state[key] = st.session_state[key]
    st.session_state.page = page
