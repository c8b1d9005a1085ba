"""The guided path through self-attention, one stop at a time: the diagram, the idea, a question, the picture, what to take.

The stop stands in the address (?stop=worked-example), so any stop can be linked to.
"""

import zlib

import streamlit as st

from pages.learn.from_scratch import class_materials
from pages.learn.from_scratch.lesson_pages import FIRST, STEPS, STOPS
from selfattn.captions.terms import TERMS
from selfattn.dashboard import session, teaching
from selfattn.dashboard.figures import current_theme, heading

SLUGS = list(STOPS)


def go(slug: str) -> None:
    """Put a stop into the address; a link's ?reveal=yes is for its own stop only."""
    st.query_params.pop("reveal", None)
    st.query_params["stop"] = slug


def show_diagram(here: str) -> None:
    """The flow from embeddings to a real head, always in sight: where one is, and a click away from every other step."""
    st.html(
        f"<style>.st-key-flow{{position:sticky;top:2.6rem;z-index:90;background:{current_theme().background}}}</style>"
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="flow"):
        for step in STEPS:
            first = next(slug for slug in SLUGS if step == STOPS[slug].STEP)
            # "primary" is white on light blue.
            st.button(
                step, key=f"flow.{step}", on_click=go, args=(first,),
                type="secondary" if step == STOPS[here].STEP else "tertiary",
            )  # fmt: skip
            if step != STEPS[-1]:
                st.markdown("→", width="content")


asked = st.query_params.get("stop")
here = asked if asked in STOPS else SLUGS[0]
place, last = SLUGS.index(here), len(SLUGS) - 1
session.STOP.set(here)
with st.container(horizontal=True, vertical_alignment="bottom", width=teaching.TEXT_WIDTH):
    before, after = SLUGS[max(place - 1, 0)], SLUGS[min(place + 1, last)]
    st.button("Previous", icon=":material/arrow_back:", on_click=go, args=(before,), disabled=not place)
    labels = {slug: f"{number}. {stop.TITLE}" for number, (slug, stop) in enumerate(STOPS.items(), start=1)}
    st.selectbox(
        "Stop", SLUGS, format_func=labels.__getitem__, key=session.STOP, label_visibility="collapsed",
        on_change=lambda: go(session.STOP.get()),
    )  # fmt: skip
    st.button("Next", icon=":material/arrow_forward:", on_click=go, args=(after,), disabled=place == last)
show_diagram(here)
stop = STOPS[here]
heading(stop.TITLE)
picture, numbers = teaching.sides()
answer = stop.answer() if hasattr(stop, "answer") else stop.OPTIONS[0]  # an encoder's answer is computed
options = sorted(stop.OPTIONS, key=lambda option: zlib.crc32(option.encode()))  # the right one in no place of its own
with picture:
    teaching.prose(stop.IDEA)
    answered = teaching.predict(here, stop.QUESTION, options, answer, stop.REASON)
with numbers:
    teaching.explain(*(term for term in FIRST.get(here, ()) if TERMS[term] not in stop.IDEA))
if answered:
    stop.show(picture, numbers)
    teaching.take(stop.TAKE)
class_materials.show(STOPS)
