"""The guided path through self-attention, one stop at a time: an idea, a question, a picture, a conclusion.

The address names the stop (?stop=worked-example), so that a link can open any of them.
"""

import zlib

import streamlit as st

from pages.learn.from_scratch import class_materials
from pages.learn.from_scratch.lesson_pages import CORE, FIRST, NUMBERS, STEPS, STOPS, beside, neighbours
from selfattn.dashboard import session, teaching
from selfattn.dashboard.figures import current_theme, heading, this_page
from selfattn.dashboard.navigation import show_link
from selfattn.lessons.one_head_by_hand import REAL
from selfattn.lessons.terms import TERMS

# Arrow and Page keys change the stop: a projector's remote sends them. Fields that use these keys keep them.
KEYS = """
<script>
if (!window.selfattnSteps) {
  window.selfattnSteps = true;
  const steps = { ArrowRight: "next", PageDown: "next", ArrowLeft: "previous", PageUp: "previous" };
  const own = "input, textarea, select, canvas, [role=slider], [role=radio], [role=listbox], [role=grid]";
  addEventListener("keydown", (event) => {
    const step = steps[event.key], button = step && document.querySelector(`.st-key-${step} button`);
    if (!button || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || event.repeat) return;
    if (event.composedPath()[0].closest?.(own)) return; // within a component, too
    event.preventDefault();
    button.click();
    document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);
  });
}
</script>
"""

# A printed stop is one page: its picture beside its question and the answer, without what one would click.
CLICKED = ("Expander", "TextInput", "NumberInput", "Slider", "Selectbox", "Checkbox", "Button", "Popover")
PRINT = (
    "@media print{@page{size:A4;margin:8mm}[data-testid=stSidebar],[data-testid=stHeader],.st-key-ways_on,"
    "[data-testid=stLayoutWrapper]:has(>.st-key-strip),"
    f"[data-testid=stMain] :is({','.join(f'[data-testid=st{each}]' for each in CLICKED)}){{display:none!important}}"
    "[data-testid=stMainBlockContainer]{padding:0!important;zoom:.62}.st-key-sides{display:flex!important}}"
)

# For a projector: hide the sidebar and enlarge the stop, so that the last row can read it.
PROJECTOR = (
    ":is([data-testid=stSidebar],[data-testid=stExpandSidebarButton],[data-testid=stHeader],.st-key-flow){display:none}"
    "[data-testid=stLayoutWrapper]:has(>.st-key-strip){padding:.3rem 0!important;margin-top:-.8rem!important}"
    "@media(min-width:1000px){[data-testid=stMainBlockContainer]{zoom:1.35}}"
)


def go(slug: str) -> None:
    """Put a stop into the address, and remove ?reveal=yes: it belongs to one stop only."""
    st.query_params["stop"] = slug  # first, so that the history keeps ?reveal=yes for the previous stop
    st.query_params.pop("reveal", None)


def step(way: str, slug: str | None, key: str) -> None:
    """Draw the button Previous or Next; it is disabled at the end of the path."""
    icon = f":material/arrow_{'back' if way == 'Previous' else 'forward'}:"
    st.button(way, icon=icon, on_click=go, args=(slug,), disabled=slug is None, key=key)


def show_strip(here: str) -> None:
    """Draw the strip that stays in sight: Previous, the picker of stops, Next, and buttons from embeddings to a real head."""
    projected = st.session_state.get(session.PROJECTOR, st.query_params.get(session.PROJECTOR) == "true")
    st.html(
        "<style>[data-testid=stLayoutWrapper]:has(>.st-key-strip){position:sticky;top:0;z-index:90;margin-top:-2rem;"
        f"background:{current_theme().background};padding:2.4rem 0 .3rem}}"
        ".st-key-sides>:last-child{flex:1 1 280px!important;max-width:760px}"
        "@media(max-width:700px){.st-key-flow{display:none}}"  # in a narrow window it would wrap and cover the stop
        f"{PRINT}{PROJECTOR if projected else ''}</style>{KEYS}",
        unsafe_allow_javascript=True,
    )
    with st.container(key="strip", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", width=teaching.TEXT_WIDTH):
            step("Previous", before, "previous")
            st.selectbox(
                "Stop", list(STOPS), format_func=lambda slug: f"{NUMBERS[slug]}. {STOPS[slug].TITLE}", key=session.STOP,
                label_visibility="collapsed", on_change=lambda: go(session.STOP.get()),
            )  # fmt: skip
            step("Next", after, "next")
            st.toggle(
                "Projector", key=session.PROJECTOR, bind="query-params", help="Larger type, the menu folded away."
            )
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="flow"):
            for box in STEPS:
                first = next(slug for slug in (*CORE, *STOPS) if box == STOPS[slug].STEP)
                # Not "primary", which is white on light blue.
                st.button(
                    box, key=f"flow.{box}", on_click=go, args=(first,),
                    type="secondary" if box == STOPS[here].STEP else "tertiary",
                )  # fmt: skip
                if box != STEPS[-1]:
                    st.markdown("→", width="content")


def show_ways_on(here: str) -> None:
    """Draw links to related stops, and Previous and Next; at the last core stop also a link to the main view, in the same tab."""
    if more := [slug for slug in beside(here) if slug != here]:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown("More beside it:", width="content")
            for slug in more:
                st.button(STOPS[slug].TITLE, key=f"more.{slug}", on_click=go, args=(slug,), type="tertiary")
    with st.container(horizontal=True, vertical_alignment="center"):
        step("Previous", before, "previous below")
        step("Next", after, "next below")
        if here == CORE[-1]:
            guess = class_materials.guess_first(*REAL.sentences, word=REAL.word)
            show_link("", "On: guess which word changes “bank” most, in any sentence", "arrow_forward", **guess)


asked = st.query_params.get("stop")
here = asked if asked in STOPS else CORE[0]
before, after = neighbours(here)
session.STOP.set(here)
show_strip(here)
stop, this_page().name = STOPS[here], f"from-scratch-{here}"
heading(stop.TITLE)
picture, numbers = teaching.sides()
options = sorted(stop.OPTIONS, key=lambda option: zlib.crc32(option.encode()))  # a fixed order that hides the answer
with numbers:
    teaching.prose(stop.IDEA)
    teaching.explain(*(term for term in FIRST.get(here, ()) if TERMS[term] not in stop.IDEA))
    answer = stop.answer() if hasattr(stop, "answer") else stop.OPTIONS[0]  # an encoder's answer is computed
    answered = teaching.predict(here, stop.QUESTION, options, answer, stop.REASON)
    if here not in CORE:
        stop.show(picture, answered)
    elif answered:
        stop.show(picture)
if answered:
    if hasattr(stop, "show_details"):
        stop.show_details()
    teaching.take(stop.TAKE)
with st.container(key="ways_on"):
    show_ways_on(here)
    class_materials.show()
