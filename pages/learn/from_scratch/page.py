"""The guided path through self-attention: one stop at a time, in the order project, score, normalise, mix.

The stop stands in the address (?stop=worked-example), so any stop can be linked to.
"""

import streamlit as st

from pages.learn.from_scratch import class_materials
from pages.learn.from_scratch.stops import STEPS, STOPS
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import heading

SLUGS = list(STOPS)


def current() -> str:
    """The stop named in the address, else the first."""
    asked = st.query_params.get("stop", SLUGS[0])
    return asked if asked in STOPS else SLUGS[0]


def go(slug: str) -> None:
    """Put a stop into the address; a link's ?reveal=yes is for its own stop only."""
    st.query_params.pop("reveal", None)
    st.query_params["stop"] = slug


def label(slug: str) -> str:
    return f"{SLUGS.index(slug) + 1}. {STOPS[slug].TITLE}"


here = current()
place = SLUGS.index(here)
st.session_state["choice of stop"] = here

with st.container(horizontal=True, vertical_alignment="bottom", width=teaching.TEXT_WIDTH):
    st.button(
        "Previous", icon=":material/arrow_back:", on_click=go, args=(SLUGS[max(place - 1, 0)],), disabled=not place
    )
    st.selectbox(
        "Stop",
        SLUGS,
        format_func=label,
        key="choice of stop",
        on_change=lambda: go(st.session_state["choice of stop"]),
        label_visibility="collapsed",
    )
    last = len(SLUGS) - 1
    st.button(
        "Next",
        icon=":material/arrow_forward:",
        on_click=go,
        args=(SLUGS[min(place + 1, last)],),
        disabled=place == last,
    )
steps = " → ".join(f"**:primary[{step}]**" if step == STOPS[here].STEP else step for step in STEPS)
st.progress((place + 1) / len(SLUGS), text=f"{steps}  ·  stop {place + 1} of {len(SLUGS)}")

heading(STOPS[here].TITLE)
STOPS[here].show()
class_materials.show()
