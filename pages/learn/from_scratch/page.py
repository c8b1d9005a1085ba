"""Show the lesson pages ("stops") of From scratch.

The address names the page: ?stop=hide-a-word
"""

import zlib
from pathlib import Path
from typing import Any

import streamlit as st

from pages.learn.from_scratch import class_materials
from pages.learn.from_scratch.lesson_pages import CORE, MERGED, NUMBERS, PARTS, STOPS, beside, neighbours
from selfattn.dashboard import session, teaching
from selfattn.dashboard.figures import current_look, heading, show_panel, this_page
from selfattn.dashboard.live import show_live
from selfattn.dashboard.navigation import show_link
from selfattn.lessons.one_head_by_hand import REAL
from selfattn.lessons.terms import TERMS
from selfattn.panel import Live
from selfattn.views.stage import Scene, stage_data, stage_panel


def go(slug: str) -> None:
    """Set the address to the lesson page `slug`, with the answer not yet revealed."""
    st.query_params["stop"] = slug  # set first: the history then keeps ?reveal=yes for the previous page
    st.query_params.pop("reveal", None)


def step(way: str, slug: str | None) -> None:
    icon = f":material/arrow_{'back' if way == 'Previous' else 'forward'}:"
    st.button(way, icon=icon, on_click=go, args=(slug,), disabled=slug is None, key=way.lower())


def show_strip() -> None:
    """Draw the fixed bar with the list of lesson pages."""
    behind = f"[data-testid=stLayoutWrapper]:has(>.st-key-strip){{background:{current_look().theme.background}}}"
    looks = Path(__file__).with_suffix(".html").read_text("utf-8")
    st.html(f"<style>{behind}</style>{looks}", unsafe_allow_javascript=True)
    with st.container(key="strip", horizontal=True, vertical_alignment="center", width=teaching.TEXT_WIDTH):
        step("Previous", before)
        st.selectbox(
            "Stop", list(STOPS), format_func=lambda slug: f"{NUMBERS[slug]}. {STOPS[slug].title}", key=session.STOP,
            label_visibility="collapsed", on_change=lambda: go(session.STOP.get()),
        )  # fmt: skip
        step("Next", after)
        st.toggle("Projector", key=session.PROJECTOR, bind="query-params", help="Enlarge the text and hide the menu.")


def outline() -> list[dict[str, Any]]:
    """Return each part of the course: title, first lesson page, and state (past, now or to come)."""
    now = PARTS.index(stop.part)
    first = {STOPS[slug].part: slug for slug in reversed(CORE)}
    states = ("past" if at < now else "now" if at == now else "to come" for at in range(len(PARTS)))
    return [{"text": part, "stop": first[part], "state": state} for part, state in zip(PARTS, states)]


def choose(_: str, clicked: Any) -> None:
    """Go to the lesson page `clicked`. Ignore unknown values from the browser."""
    if clicked in STOPS:
        go(clicked)


def show_stage(scene: Scene | None, answered: bool) -> None:
    if scene and answered:
        show_panel(stage_panel(scene, outline(), here), choose=choose, states=("stop",))
    else:
        live = Live("stage", stage_data(scene, outline(), here, answered=False))
        show_live(live, f"{live.component} {live.data['key']}", choose, "stop")


def ask() -> bool:
    """Ask the page's question. Return True once the visitor has answered."""
    if not projected:
        teaching.prose(stop.idea)
    # In stops.toml the correct option comes first, so change the order.
    options = sorted(stop.options, key=lambda option: zlib.crc32(option.encode()))
    answered = teaching.predict(here, stop.question, options, stop.answer, stop.reason)
    if projected:  # on a projector, students should see the question first
        teaching.prose(stop.idea)
    teaching.explain(*(term for term in stop.terms if TERMS[term] not in stop.idea))
    return answered


def show_ways_on() -> None:
    """Draw links to related lesson pages, and on the last core page a link to the main view."""
    if here == CORE[-1]:
        guess = {"model": "all-MiniLM-L6-v2", **dict(zip("abc", REAL.sentences)), "word": REAL.word, "guess": "yes"}
        show_link(
            "",
            "Next: guess which word, if hidden, changes “bank” most; then type your own sentences",
            "arrow_forward",
            **guess,
        )
    if more := [slug for slug in beside(here) if slug != here]:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown("More about this:", width="content")
            for slug in more:
                st.button(STOPS[slug].title, key=f"more.{slug}", on_click=go, args=(slug,), type="tertiary")


linked = st.query_params.get("stop", "")
linked = MERGED.get(linked, linked)
here = linked if linked in STOPS else CORE[0]
stop, this_page().name = STOPS[here], f"from-scratch-{here}"
before, after = neighbours(here)
session.STOP.set(here)
projected = st.session_state.get(session.PROJECTOR, st.query_params.get(session.PROJECTOR) == "true")
show_strip()
heading(stop.title)
picture, numbers = teaching.sides()
draw, scene = stop.function(), None
with picture:
    place = st.container()  # the figure has the same place on all pages
with numbers:
    answered = ask()
    if here in CORE[:-1]:
        with st.container(key="tools" if answered else "tools_later"):
            scene = draw()
    if answered:
        teaching.take(stop.take)
    if here not in CORE:
        draw(picture, answered)
with place:
    if here in CORE or not projected:  # on a projector, optional pages have no outline
        show_stage(scene, answered)
    if here == CORE[-1]:
        draw(answered)
if answered and (details := stop.function(f"{here.replace('-', '_')}_details")):
    details()
with st.container(key="ways_on"):
    show_ways_on()
with st.container(key="for_class"):
    class_materials.show()
